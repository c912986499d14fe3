// A ring buffer publishes the slot before it is filled.
// options: -std=c++20
#include <array>
#include <atomic>
#include <thread>
std::array<int, 8> slots;
std::atomic<unsigned> head, tail;
int main() {
    std::jthread producer([] {
        for (unsigned i = 0; i < 4; i++) {
            tail.store(i + 1, std::memory_order_release);
            slots[i] = 7; // races
        }
    });
    int sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        while (tail.load(std::memory_order_acquire) <= i) std::this_thread::yield();
        sum += slots[i]; // races
        head.store(i + 1, std::memory_order_release);
    }
    return sum > 28;
}
