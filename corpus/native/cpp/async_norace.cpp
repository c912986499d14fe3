// Results are added by the caller; an exception comes by a future, too.
// options: -std=c++20
#include <future>
#include <stdexcept>
int main() {
    auto one = std::async(std::launch::async, [] { return 1; });
    auto other = std::async(std::launch::async, []() -> int { throw std::runtime_error("none"); });
    int sum = one.get();
    try {
        sum += other.get();
    } catch (const std::runtime_error &) {
        sum += 5;
    }
    return sum != 6;
}
