// Handed over by a promise.
#include <future>
#include <thread>

int data;

int main() {
    std::promise<int> promise;
    std::future<int> result = promise.get_future();
    std::thread thread([&] {
        data = 41;
        promise.set_value(1);
    });
    data += result.get();
    thread.join();
    return data - 42;
}
