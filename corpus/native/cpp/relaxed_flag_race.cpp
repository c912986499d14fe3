// A relaxed flag publishes nothing.
// options: -std=c++20
#include <atomic>
#include <thread>
int main() {
    int data = 0;
    std::atomic<bool> ready = false;
    std::jthread writer([&] {
        data = 42; // races
        ready.store(true, std::memory_order_relaxed);
    });
    if (ready.load(std::memory_order_relaxed)) return data != 42; // races
    return data > 42; // races
}
