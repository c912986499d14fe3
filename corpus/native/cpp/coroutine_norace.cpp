// The caller waits for the thread that the coroutine has ended on.
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
Task work(int from) {
    int own = from + 1;
    co_await OnOtherThread{};
    value = own + 4;
}
int main() {
    work(0);
    worker.join();
    return value != 5;
}
