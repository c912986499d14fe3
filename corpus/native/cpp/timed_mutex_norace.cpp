// A thread that does not get the lock in time does without.
// options: -std=c++20
#include <chrono>
#include <mutex>
#include <thread>
int main() {
    std::timed_mutex lock;
    int count = 0, misses = 0;
    {
        std::jthread other([&] {
            std::unique_lock guard(lock, std::chrono::milliseconds(5));
            if (guard) count++;
            else misses++;
        });
        std::lock_guard guard(lock);
        count++;
    }
    return count + misses != 2;
}
