// A sequence lock with relaxed atomics and fences.
// options: -std=c++20
#include <atomic>
#include <thread>
std::atomic<unsigned> sequence;
std::atomic<int> left, right;
int main() {
    std::jthread writer([] {
        sequence.fetch_add(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        left.store(1, std::memory_order_relaxed);
        right.store(1, std::memory_order_relaxed);
        sequence.fetch_add(1, std::memory_order_release);
    });
    unsigned before = sequence.load(std::memory_order_acquire);
    int a = left.load(std::memory_order_relaxed), b = right.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    return before % 2 == 0 && sequence.load(std::memory_order_relaxed) == before && a != b;
}
