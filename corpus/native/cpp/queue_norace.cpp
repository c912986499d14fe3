// The same queue, with a lock everywhere.
// options: -std=c++20
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
template <class T> class Queue {
    mutable std::mutex lock;
    std::condition_variable changed;
    std::deque<T> items;
    bool closed = false;
public:
    void push(T item) {
        {
            std::lock_guard guard(lock);
            items.push_back(std::move(item));
        }
        changed.notify_one();
    }
    bool empty() const {
        std::lock_guard guard(lock);
        return items.empty();
    }
    void close() {
        {
            std::lock_guard guard(lock);
            closed = true;
        }
        changed.notify_all();
    }
    std::optional<T> pop() {
        std::unique_lock guard(lock);
        changed.wait(guard, [&] { return closed || !items.empty(); });
        if (items.empty()) return {};
        T item = std::move(items.front());
        items.pop_front();
        return item;
    }
};
int main() {
    Queue<std::string> queue;
    std::size_t total = 0;
    std::jthread consumer([&] { while (auto item = queue.pop()) total += item->size(); });
    for (int i = 0; i < 4; i++) queue.push("a message that does not fit into the string itself " + std::to_string(i));
    bool empty = queue.empty();
    queue.close();
    consumer.join();
    return total == 0 && empty;
}
