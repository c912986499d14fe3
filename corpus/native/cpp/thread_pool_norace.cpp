// Each task of a pool gives its result by a future.
// options: -std=c++20
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
class Pool {
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    bool stops = false;
    std::vector<std::thread> workers;
    void work() {
        for (;;) {
            std::unique_lock guard(lock);
            changed.wait(guard, [&] { return stops || !tasks.empty(); });
            if (tasks.empty()) return;
            auto task = std::move(tasks.front());
            tasks.pop_front();
            guard.unlock();
            task();
        }
    }
public:
    explicit Pool(int size) {
        for (int i = 0; i < size; i++) workers.emplace_back([this] { work(); });
    }
    ~Pool() {
        {
            std::lock_guard guard(lock);
            stops = true;
        }
        changed.notify_all();
        for (auto &worker : workers) worker.join();
    }
    template <class F> auto submit(F task) {
        auto packaged = std::make_shared<std::packaged_task<decltype(task())()>>(task);
        auto result = packaged->get_future();
        {
            std::lock_guard guard(lock);
            tasks.push_back([packaged] { (*packaged)(); });
        }
        changed.notify_one();
        return result;
    }
};
int main() {
    Pool pool(2);
    auto one = pool.submit([] { return 1; });
    auto other = pool.submit([] { return 2; });
    return one.get() + other.get() != 3;
}
