// Phases alternate between two arrays; the completion step counts them.
// options: -std=c++20
#include <barrier>
#include <thread>
int main() {
    int phases = 0;
    auto count = [&]() noexcept { phases++; };
    std::barrier meeting(2, count);
    int cells[2][2] = {};
    auto work = [&](int own) {
        for (int phase = 0; phase < 3; phase++) {
            cells[phase % 2][own] = phase + cells[1 - phase % 2][1 - own];
            meeting.arrive_and_wait();
        }
    };
    {
        std::jthread other(work, 1);
        work(0);
    }
    return phases != 3;
}
