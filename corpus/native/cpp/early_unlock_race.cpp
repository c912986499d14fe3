// The lock is released before the last access.
// options: -std=c++20
#include <mutex>
#include <thread>
int main() {
    std::mutex lock;
    int stock = 5;
    auto take = [&] {
        std::unique_lock guard(lock);
        bool is_left = stock > 0; // races
        guard.unlock();
        if (is_left) stock--; // races
    };
    std::jthread other(take);
    take();
}
