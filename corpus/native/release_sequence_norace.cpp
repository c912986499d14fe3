// An update continues a release sequence, whoever makes it, and a second release begins another one.
// options: -std=c++20
#include <atomic>
#include <thread>

int data, more;
std::atomic<int> flag, other;

void first() {
    data = 1;
    flag.store(1, std::memory_order_release);
    flag.fetch_add(1, std::memory_order_relaxed);
    more = 1;
    other.store(1, std::memory_order_relaxed);
    other.store(2, std::memory_order_release);
}
void second() {
    while (flag.load(std::memory_order_relaxed) != 2) {
    }
    flag.load(std::memory_order_acquire);
    data++;
    while (other.load(std::memory_order_acquire) != 2) {
    }
    more++;
}

int main() {
    std::thread one(first), two(second);
    one.join();
    two.join();
}
