// std::shared_mutex: two readers write.
// race: 12 12
#include <shared_mutex>
#include <thread>

int data;
std::shared_mutex mutex;

int main() {
    auto write = [] {
        std::shared_lock held(mutex);
        data++;
    };
    std::thread one(write), two(write);
    one.join();
    two.join();
    return 0;
}
