// A ring buffer for one producer and one consumer.
// options: -std=c++20
#include <array>
#include <atomic>
#include <thread>
std::array<int, 2> slots;
std::atomic<unsigned> head, tail;
int main() {
    std::jthread producer([] {
        for (unsigned i = 0; i < 6; i++) {
            while (i - head.load(std::memory_order_acquire) == slots.size()) std::this_thread::yield();
            slots[i % 2] = 7;
            tail.store(i + 1, std::memory_order_release);
        }
    });
    int sum = 0;
    for (unsigned i = 0; i < 6; i++) {
        while (tail.load(std::memory_order_acquire) <= i) std::this_thread::yield();
        sum += slots[i % 2];
        head.store(i + 1, std::memory_order_release);
    }
    return sum != 42;
}
