// A binary semaphore is one, and two hand work over.
// options: -std=c++20
#include <semaphore>
#include <thread>
int main() {
    std::binary_semaphore lock(1), full(0), empty(1);
    int count = 0, slot = 0, sum = 0;
    auto work = [&] {
        lock.acquire();
        count++;
        lock.release();
    };
    {
        std::jthread consumer([&] {
            work();
            for (int i = 0; i < 3; i++) {
                full.acquire();
                sum += slot;
                empty.release();
            }
        });
        work();
        for (int i = 0; i < 3; i++) {
            empty.acquire();
            slot = i;
            full.release();
        }
    }
    return count != 2 || sum != 3;
}
