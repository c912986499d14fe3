// Publication by an atomic that is waited for.
// options: -std=c++20
#include <atomic>
#include <thread>
int main() {
    int data = 0;
    std::atomic<int> stage = 0;
    std::jthread writer([&] {
        data = 42;
        stage.store(1, std::memory_order_release);
        stage.notify_all();
        stage.wait(1);
        data = 44;
        stage = 3;
        stage.notify_all();
    });
    stage.wait(0, std::memory_order_acquire);
    data++;
    stage = 2;
    stage.notify_all();
    stage.wait(2);
    return data != 44;
}
