// Threads that were let go are still to come when the program calls `exit`.
// race: 11 11
#include <atomic>
#include <cstdlib>
#include <thread>

static std::atomic<bool> may_go;
static int counter;
static void count() {
    while (!may_go.load(std::memory_order_relaxed)) std::this_thread::yield();
    counter++;
}

int main() {
    for (int i = 0; i < 2; i++) std::thread(count).detach();
    may_go.store(true, std::memory_order_relaxed);
    std::exit(0);
}
