// A phase reads what the same phase of the other thread writes.
// options: -std=c++20
#include <barrier>
#include <thread>
int main() {
    std::barrier meeting(2);
    int cells[2] = {};
    auto work = [&](int own) {
        for (int phase = 0; phase < 3; phase++) {
            cells[own] = phase + cells[1 - own]; // races
            meeting.arrive_and_wait();
        }
    };
    std::jthread other(work, 1);
    work(0);
}
