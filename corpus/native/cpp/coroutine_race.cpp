// A coroutine goes on on another thread, and its caller uses what it writes.
// options: -std=c++20
#include <coroutine>
#include <thread>
struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
std::thread worker;
struct OnOtherThread {
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> handle) { worker = std::thread([=] { handle.resume(); }); }
    void await_resume() {}
};
int value = 0;
Task work() {
    co_await OnOtherThread{};
    value = 5; // races
}
int main() {
    work();
    int seen = value; // races
    worker.join();
    return seen > 5;
}
