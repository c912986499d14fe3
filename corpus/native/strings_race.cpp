// options: -std=c++20 -O0
// race: 10 19
// Texts on the heap order nothing, also in code that was not optimised.
#include <mutex>
#include <string>
#include <thread>
static std::mutex lock;
static int count;
static void first() {
    count = 1;
    std::string text = "longer than what fits into the object";
    std::lock_guard guard(lock);
}
static void second() {
    {
        std::string text = "also longer than what fits into it";
        std::lock_guard guard(lock);
    }
    count = 2;
}
int main() {
    std::thread thread(first);
    second();
    thread.join();
}
