// A spin lock of an atomic flag that waits.
// options: -std=c++20
#include <atomic>
#include <thread>
#include <vector>
class SpinLock {
    std::atomic_flag flag;
public:
    void lock() { while (flag.test_and_set(std::memory_order_acquire)) flag.wait(true, std::memory_order_relaxed); }
    void unlock() {
        flag.clear(std::memory_order_release);
        flag.notify_one();
    }
};
int main() {
    SpinLock lock;
    int count = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([&] {
                for (int j = 0; j < 4; j++) {
                    lock.lock();
                    count++;
                    lock.unlock();
                }
            });
    }
    return count != 12;
}
