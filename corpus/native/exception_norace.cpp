// An exception leaves a critical section, and the lock is given up on the way.
#include <mutex>
#include <stdexcept>
#include <thread>

int counter;
std::mutex mutex;

static void step(int k) {
    std::lock_guard<std::mutex> held(mutex);
    counter++;
    if (k % 2)
        throw std::runtime_error("odd");
}

int main() {
    auto work = [] {
        for (int k = 0; k < 4; k++) {
            try {
                step(k);
            } catch (const std::exception &) {
                std::lock_guard<std::mutex> held(mutex);
                counter++;
            }
        }
    };
    std::thread one(work), two(work);
    one.join();
    two.join();
    return counter - 12;
}
