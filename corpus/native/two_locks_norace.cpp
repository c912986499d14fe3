// std::scoped_lock takes two mutexes without a deadlock.
#include <mutex>
#include <thread>

int counter;
std::mutex left, right;

int main() {
    std::thread one([] {
        std::scoped_lock held(left, right);
        counter++;
    });
    std::thread two([] {
        std::scoped_lock held(right, left);
        counter++;
    });
    one.join();
    two.join();
    return counter - 2;
}
