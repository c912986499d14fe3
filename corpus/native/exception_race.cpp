// An exception leaves a critical section, and its handler goes on without the lock.
// race: 12 21
// race: 21 21
#include <mutex>
#include <thread>

int counter;
std::mutex mutex;

static void step() {
    std::lock_guard<std::mutex> held(mutex);
    counter = 1;
    throw 1;
}

int main() {
    auto work = [] {
        try {
            step();
        } catch (int) {
            counter = 1;
        }
    };
    std::thread one(work), two(work);
    one.join();
    two.join();
    return 0;
}
