// A condition variable with a flag that is set without the lock.
// options: -std=c++20
#include <condition_variable>
#include <mutex>
#include <thread>
int main() {
    std::mutex lock;
    std::condition_variable changed;
    bool ready = false;
    std::jthread setter([&] {
        ready = true; // races
        changed.notify_one();
    });
    std::unique_lock guard(lock);
    while (!ready) changed.wait_for(guard, std::chrono::milliseconds(1)); // races
}
