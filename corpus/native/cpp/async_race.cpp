// Two asynchronous calls add to the same sum.
// options: -std=c++20
#include <future>
int main() {
    int sum = 0;
    auto one = std::async(std::launch::async, [&] { sum += 1; }); // races
    auto other = std::async(std::launch::async, [&] { sum += 2; }); // races
    one.get();
    other.get();
    return sum > 3;
}
