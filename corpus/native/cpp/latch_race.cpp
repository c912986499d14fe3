// The start signal comes before the preparation has ended.
// options: -std=c++20
#include <latch>
#include <thread>
int main() {
    std::latch start(1);
    int prepared = 0;
    std::jthread worker([&] {
        start.wait();
        if (prepared > 3) prepared = 0; // races
    });
    start.count_down();
    prepared = 3; // races
}
