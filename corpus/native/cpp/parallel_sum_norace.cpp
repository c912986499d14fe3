// Each thread sums a part, and the parts are added after the joins.
// options: -std=c++20
#include <numeric>
#include <thread>
#include <vector>
int main() {
    std::vector<int> numbers(12, 2), parts(3);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([&, i] {
                auto begin = numbers.begin() + 4 * i;
                parts[i] = std::accumulate(begin, begin + 4, 0);
            });
    }
    return std::accumulate(parts.begin(), parts.end(), 0) != 24;
}
