// std::condition_variable_any with a recursive mutex.
#include <condition_variable>
#include <mutex>
#include <thread>

int data;
bool ready;
std::recursive_mutex mutex;
std::condition_variable_any changed;

int main() {
    std::thread thread([] {
        std::lock_guard<std::recursive_mutex> held(mutex);
        data = 42;
        ready = true;
        changed.notify_all();
    });
    {
        std::unique_lock<std::recursive_mutex> held(mutex);
        changed.wait(held, [] { return ready; });
    }
    data++;
    thread.join();
    return data - 43;
}
