// Threads get the loop variable by reference.
// options: -std=c++20
#include <thread>
#include <vector>
int main() {
    int results[3] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) // races
        threads.emplace_back([&] { results[0] += i >= 0; }); // races
    for (auto &thread : threads) thread.join();
    return results[0] > 3;
}
