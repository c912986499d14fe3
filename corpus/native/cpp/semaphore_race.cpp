// A semaphore with two permits is no mutex.
// options: -std=c++20
#include <semaphore>
#include <thread>
int main() {
    std::counting_semaphore<2> permits(2);
    int count = 0;
    auto work = [&] {
        permits.acquire();
        count++; // races
        permits.release();
    };
    std::jthread other(work);
    work();
}
