// The value is set too early.
// options: -std=c++20
#include <future>
#include <thread>
int main() {
    std::promise<void> ready;
    int data = 0;
    std::jthread thread([&] {
        ready.set_value();
        data = 4; // races
    });
    ready.get_future().wait();
    return data > 4; // races
}
