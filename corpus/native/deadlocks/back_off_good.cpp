// Who cannot have the second mutex at once gives the first one up and begins again.
#include <mutex>
#include <thread>

static std::mutex left, right;
static int balance;

static void with_both(std::mutex &first, std::mutex &second, int change) {
    for (;;) {
        std::unique_lock<std::mutex> one(first);
        std::unique_lock<std::mutex> other(second, std::try_to_lock);
        if (other.owns_lock()) {
            balance += change;
            return;
        }
        one.unlock();
        std::this_thread::yield();
    }
}

int main() {
    std::thread forth([] { with_both(left, right, 1); });
    std::thread back([] { with_both(right, left, -1); });
    forth.join();
    back.join();
}
