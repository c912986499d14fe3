// std::lock_guard and std::unique_lock in opposite order.
#include <mutex>
#include <thread>

static std::mutex left, right;
static int balance;

int main() {
    std::thread forth([] {
        std::lock_guard<std::mutex> first(left);
        std::lock_guard<std::mutex> second(right);
        balance++;
    });
    std::thread back([] {
        std::unique_lock<std::mutex> first(right);
        std::unique_lock<std::mutex> second(left);
        balance--;
    });
    forth.join();
    back.join();
}
