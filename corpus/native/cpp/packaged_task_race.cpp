// The thread writes after the result of its task is there.
// options: -std=c++20
#include <future>
#include <thread>
int value = 0;
int main() {
    std::packaged_task<int()> task([] { return 1; });
    auto result = task.get_future();
    std::thread thread([](std::packaged_task<int()> run) {
        run();
        value = 5; // races
    }, std::move(task));
    result.get();
    int seen = value; // races
    thread.join();
    return seen > 5;
}
