// Initialisation by call_once, also if the first attempt fails.
// options: -std=c++20
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
std::once_flag flag;
std::string text;
int attempts;
void prepare() {
    if (attempts++ == 0) throw std::runtime_error("not yet");
    text = "prepared, with a text that is long enough for the heap";
}
std::size_t use() {
    for (;;) {
        try {
            std::call_once(flag, prepare);
            return text.size();
        } catch (const std::runtime_error &) {
        }
    }
}
int main() {
    std::size_t one = 0;
    {
        std::jthread other([&] { one = use(); });
        use();
    }
    return one != use();
}
