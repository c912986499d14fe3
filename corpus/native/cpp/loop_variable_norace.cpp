// Threads get the loop variable by value.
// options: -std=c++20
#include <span>
#include <thread>
#include <vector>
int main() {
    int results[3] = {};
    std::span<int> all(results);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) threads.emplace_back([=] { all[i] += i; });
    for (auto &thread : threads) thread.join();
    return results[2] != 2;
}
