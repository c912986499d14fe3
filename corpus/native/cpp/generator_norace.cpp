// A generator is resumed under a lock, by two threads.
// options: -std=c++20
#include <coroutine>
#include <mutex>
#include <thread>
struct Numbers {
    struct promise_type {
        int current = 0;
        Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int value) {
            current = value;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
Numbers count() {
    for (int i = 1;; i++) co_yield i;
}
int main() {
    Numbers numbers = count();
    std::mutex lock;
    int sum = 0;
    auto take = [&] {
        std::lock_guard guard(lock);
        numbers.handle.resume();
        sum += numbers.handle.promise().current;
    };
    {
        std::jthread other([&] { take(); take(); });
        take();
    }
    numbers.handle.destroy();
    return sum != 6;
}
