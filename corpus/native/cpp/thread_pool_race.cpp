// The tasks of a pool share a result.
// options: -std=c++20
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
class Pool {
    std::mutex lock;
    std::condition_variable_any changed;
    std::deque<std::function<void()>> tasks;
    std::vector<std::jthread> workers;
    void work(std::stop_token stop) {
        for (;;) {
            std::unique_lock guard(lock);
            if (!changed.wait(guard, stop, [&] { return !tasks.empty(); })) return;
            auto task = std::move(tasks.front());
            tasks.pop_front();
            guard.unlock();
            task();
        }
    }
public:
    explicit Pool(int size) {
        for (int i = 0; i < size; i++) workers.emplace_back([this](std::stop_token stop) { work(stop); });
    }
    void submit(std::function<void()> task) {
        std::lock_guard guard(lock);
        tasks.push_back(std::move(task));
        changed.notify_one();
    }
};
int main() {
    int result = 0;
    Pool pool(2);
    pool.submit([&] { result += 1; }); // races
    pool.submit([&] { result += 2; }); // races
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}
