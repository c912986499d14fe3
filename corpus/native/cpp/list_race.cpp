// Observers are called while one removes itself.
// options: -std=c++20
#include <functional>
#include <list>
#include <thread>
int main() {
    std::list<std::function<void()>> observers;
    int calls = 0;
    observers.push_back([&] { calls++; });
    observers.push_back([] {});
    std::jthread remover([&] { observers.pop_back(); }); // races
    for (auto &observer : observers) observer(); // races
}
