// std::atomic_ref makes accesses to a plain variable atomic.
// options: -std=c++20
#include <atomic>
#include <thread>

int counter;

int main() {
    auto work = [] { std::atomic_ref<int>(counter).fetch_add(1, std::memory_order_relaxed); };
    std::thread one(work), two(work);
    one.join();
    two.join();
    return counter - 2;
}
