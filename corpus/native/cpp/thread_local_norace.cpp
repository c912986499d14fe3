// Each thread counts in a variable of its own.
// options: -std=c++20
#include <atomic>
#include <thread>
#include <vector>
thread_local int own = 1;
std::atomic<int> total;
int main() {
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([i] {
                own += i;
                total += own;
            });
    }
    return total != 6;
}
