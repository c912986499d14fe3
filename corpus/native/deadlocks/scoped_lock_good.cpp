// std::scoped_lock in opposite order: it tries all but one, and gives up what it has if that fails.
#include <mutex>
#include <thread>

static std::mutex left, right;
static int balance;

int main() {
    std::thread forth([] {
        std::scoped_lock both(left, right);
        balance++;
    });
    std::thread back([] {
        std::scoped_lock both(right, left);
        balance--;
    });
    forth.join();
    back.join();
}
