// A sequence lock whose data is not atomic.
// options: -std=c++20
#include <atomic>
#include <thread>
std::atomic<unsigned> sequence;
int left, right;
int main() {
    std::jthread writer([] {
        sequence++;
        left = 1; // races
        right = 1; // races
        sequence++;
    });
    unsigned before = sequence;
    int a = left, b = right; // races
    return before % 2 == 0 && sequence == before && a != b;
}
