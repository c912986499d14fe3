// options: -std=c++20
// race: 47 56
// A coroutine begins on one thread and goes on on another, which its caller does not wait for.
#include <coroutine>
#include <exception>
#include <thread>

struct Task {
    struct promise_type {
        Task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() {
            return {};
        }
        std::suspend_always final_suspend() noexcept {
            return {};
        }
        void return_void() {
        }
        void unhandled_exception() {
            std::terminate();
        }
    };
    std::coroutine_handle<promise_type> handle;
};

static std::thread other;
static int shared;

struct OnAnotherThread {
    bool await_ready() {
        return false;
    }
    void await_suspend(std::coroutine_handle<> handle) {
        other = std::thread([handle] { handle.resume(); });
    }
    void await_resume() {
    }
};

static Task work() {
    int step = 1;
    shared = step;
    co_await OnAnotherThread{};
    step++;
    shared = step;
}

static int use(int value) {
    return value > 2;
}

int main() {
    Task task = work();
    int seen = use(shared);
    other.join();
    task.handle.destroy();
    return seen;
}
