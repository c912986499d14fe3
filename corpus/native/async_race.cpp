// race: 9 13
// A task that nothing has waited for yet.
#include <future>

static long shared;

int main() {
    auto task = std::async(std::launch::async, [] {
        shared = 1;
        return 2;
    });
    // The result is asked for too late.
    shared = 3;
    return task.get() != 2;
}
