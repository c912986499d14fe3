// A latch for the start and one for the end.
// options: -std=c++20
#include <latch>
#include <thread>
#include <vector>
int main() {
    std::latch start(1), done(3);
    int prepared = 0, results[3] = {};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] {
            start.wait();
            results[i] = prepared + i;
            done.count_down();
        });
    prepared = 3;
    start.count_down();
    done.wait();
    return results[0] + results[1] + results[2] != 12;
}
