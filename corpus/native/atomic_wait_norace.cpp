// Waiting for an atomic to change.
// options: -std=c++20
#include <atomic>
#include <thread>

int data;
std::atomic<int> ready;

int main() {
    std::thread thread([] {
        data = 42;
        ready.store(1);
        ready.notify_one();
    });
    ready.wait(0);
    data++;
    thread.join();
    return data - 43;
}
