// std::call_once.
#include <mutex>
#include <thread>

int data, seen[2];
std::once_flag flag;

int main() {
    auto work = [](int k) {
        std::call_once(flag, [] { data = 42; });
        seen[k] = data;
    };
    std::thread one(work, 0), two(work, 1);
    one.join();
    two.join();
    return 0;
}
