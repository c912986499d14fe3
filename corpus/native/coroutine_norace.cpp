// options: -std=c++20
// Coroutines that hand each other on, by way of a queue that two threads serve, and one that awaits the result of another.
#include <condition_variable>
#include <coroutine>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static std::coroutine_handle<> waiting[8];
static int first, last;
static bool closed;

static void put(std::coroutine_handle<> handle) {
    std::lock_guard<std::mutex> guard(lock);
    waiting[last++ % 8] = handle;
    changed.notify_one();
}

static void serve() {
    for (;;) {
        std::unique_lock<std::mutex> guard(lock);
        while (first == last && !closed)
            changed.wait(guard);
        if (first == last)
            return;
        std::coroutine_handle<> next = waiting[first++ % 8];
        guard.unlock();
        next.resume();
    }
}

struct Elsewhere {
    bool await_ready() {
        return false;
    }
    void await_suspend(std::coroutine_handle<> handle) {
        put(handle);
    }
    void await_resume() {
    }
};

struct Task {
    struct promise_type {
        int result = 0;
        std::coroutine_handle<> then = std::noop_coroutine();
        Task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() {
            return {};
        }
        struct Last {
            bool await_ready() noexcept {
                return false;
            }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
                return ended.promise().then;
            }
            void await_resume() noexcept {
            }
        };
        Last final_suspend() noexcept {
            return {};
        }
        void return_value(int value) {
            result = value;
        }
        void unhandled_exception() {
            std::terminate();
        }
    };
    bool await_ready() {
        return false;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        handle.promise().then = caller;
        return handle;
    }
    int await_resume() {
        return handle.promise().result;
    }
    std::coroutine_handle<promise_type> handle;
};

static Task part(int number) {
    int kept = number;
    co_await Elsewhere{};
    kept += 1;
    co_await Elsewhere{};
    co_return kept * 10;
}

static int total;

static Task whole() {
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        Task one = part(i);
        sum += co_await one;
        one.handle.destroy();
    }
    std::lock_guard<std::mutex> guard(lock);
    total += sum;
    if (total == 60) {
        closed = true;
        changed.notify_all();
    }
    co_return sum;
}

int main() {
    Task one = whole(), two = whole();
    put(one.handle);
    put(two.handle);
    std::thread helper(serve);
    serve();
    helper.join();
    int results = one.handle.promise().result + two.handle.promise().result;
    one.handle.destroy();
    two.handle.destroy();
    return results == 60 ? EXIT_SUCCESS : EXIT_FAILURE;
}
