// std::shared_mutex: readers together, the writer alone.
#include <mutex>
#include <shared_mutex>
#include <thread>

int data, seen[2];
std::shared_mutex mutex;

int main() {
    auto read = [](int k) {
        std::shared_lock held(mutex);
        seen[k] = data;
    };
    std::thread one(read, 0), two(read, 1), writer([] {
        std::unique_lock held(mutex);
        data++;
    });
    one.join();
    two.join();
    writer.join();
    return 0;
}
