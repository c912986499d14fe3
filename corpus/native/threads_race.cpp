// Two std::threads, one of which forgets the lock.
// race: 12 17
#include <mutex>
#include <thread>

int total;
std::mutex mutex;

int main() {
    std::thread one([] {
        std::lock_guard<std::mutex> held(mutex);
        total += 1;
    });
    std::thread two([] {
        {
            std::lock_guard<std::mutex> held(mutex);
        } total += 2;
    });
    one.join();
    two.join();
    return 0;
}
