// The thread writes before its task gives a result.
// options: -std=c++20
#include <future>
#include <thread>
int value = 0;
int main() {
    std::packaged_task<int()> task([] {
        value = 5;
        return 1;
    });
    auto result = task.get_future();
    std::thread thread([](std::packaged_task<int()> run) { run(); }, std::move(task));
    result.get();
    int seen = value;
    thread.join();
    return seen != 5;
}
