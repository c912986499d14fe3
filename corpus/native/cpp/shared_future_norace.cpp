// Several threads wait for one result.
// options: -std=c++20
#include <future>
#include <thread>
#include <vector>
int main() {
    std::promise<int> promise;
    std::shared_future<int> result = promise.get_future().share();
    int table[3] = {}, input = 2;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; i++) threads.emplace_back([&, i, result] { table[i] = result.get() + input; });
        input = 3;
        promise.set_value(4);
    }
    return table[0] + table[1] + table[2] != 21;
}
