// The result is read before the thread is joined.
// options: -std=c++20
#include <functional>
#include <numeric>
#include <thread>
#include <vector>
int main() {
    std::vector<int> numbers{1, 2, 3, 4};
    int sum = 0;
    std::thread worker([&] { sum = std::accumulate(numbers.begin(), numbers.end(), 0); }); // races
    int seen = sum; // races
    worker.join();
    return seen > 10;
}
