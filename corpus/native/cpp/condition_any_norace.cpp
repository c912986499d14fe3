// A condition variable with a shared lock.
// options: -std=c++20
#include <condition_variable>
#include <shared_mutex>
#include <thread>
int main() {
    std::shared_mutex lock;
    std::condition_variable_any changed;
    int stage = 0, seen = 0;
    std::jthread reader([&] {
        std::shared_lock guard(lock);
        changed.wait(guard, [&] { return stage == 2; });
        seen = stage;
    });
    for (int i = 1; i < 3; i++) {
        std::unique_lock guard(lock);
        stage = i;
        changed.notify_all();
    }
    reader.join();
    return seen != 2;
}
