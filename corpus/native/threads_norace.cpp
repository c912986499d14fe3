// std::thread, std::mutex, std::condition_variable, std::atomic and a local static.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<int> items;
    void push(int item) {
        std::lock_guard<std::mutex> held(mutex);
        items.push_back(item);
        changed.notify_one();
    }
    int pop() {
        std::unique_lock<std::mutex> held(mutex);
        changed.wait(held, [this] { return !items.empty(); });
        int item = items.back();
        items.pop_back();
        return item;
    }
};

static Queue &queue() {
    static Queue only;
    return only;
}

int main() {
    std::atomic<int> sum{0};
    std::thread producer([] {
        for (int i = 0; i < 4; i++)
            queue().push(i);
    });
    std::thread consumer([&sum] {
        for (int i = 0; i < 4; i++)
            sum += queue().pop();
    });
    producer.join();
    consumer.join();
    return sum == 6 ? 0 : 1;
}
