// Two methods use two mutexes for the same member.
// options: -std=c++20
#include <mutex>
#include <thread>
class Counter {
    std::mutex reading, writing;
    int value = 0;
public:
    void add() {
        std::lock_guard guard(writing);
        value++; // races
    }
    int get() {
        std::lock_guard guard(reading);
        return value; // races
    }
};
int main() {
    Counter counter;
    std::jthread other([&] { counter.add(); });
    return counter.get() > 1;
}
