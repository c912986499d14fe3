// Objects with threads of their own are destroyed after `main`, and so are those of each thread.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

static int total;
static std::mutex total_mutex;

static void add() {
    std::lock_guard<std::mutex> lock(total_mutex);
    total++;
}

struct AddsAtEnd {
    bool used = false;
    ~AddsAtEnd() { add(); }
};
static thread_local AddsAtEnd adds;

class Worker {
    std::mutex mutex;
    std::condition_variable changed;
    bool stops = false;
    std::thread thread{[this] { work(); }};

    void work() {
        adds.used = true;
        std::unique_lock<std::mutex> lock(mutex);
        while (!stops) changed.wait(lock);
    }

public:
    ~Worker() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            stops = true;
        }
        changed.notify_all();
        thread.join();
        add();
    }
};

static Worker worker;

int main() {
    std::atexit(add);
    add();
    return 0;
}
