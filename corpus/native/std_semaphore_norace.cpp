// std::binary_semaphore as a lock.
// options: -std=c++20
#include <semaphore>
#include <thread>

int counter;
std::binary_semaphore permit(1);

int main() {
    auto work = [] {
        permit.acquire();
        counter++;
        permit.release();
    };
    std::thread one(work), two(work);
    one.join();
    two.join();
    return counter - 2;
}
