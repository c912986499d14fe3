// By the rules of C++20, a relaxed store ends a release sequence, even if the same thread makes it.
// race: 11 20
// options: -std=c++20
#include <atomic>
#include <thread>

int data;
std::atomic<int> flag;

void first() {
    data = 1;
    flag.store(1, std::memory_order_release);
    flag.store(2, std::memory_order_relaxed);
}
void second() {
    while (flag.load(std::memory_order_relaxed) != 2) {
    }
    // Sees the second store, which releases nothing.
    flag.load(std::memory_order_acquire);
    data = 2;
}

int main() {
    std::thread one(first), two(second);
    one.join();
    two.join();
}
