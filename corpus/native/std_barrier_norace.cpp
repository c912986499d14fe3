// std::barrier between two phases.
// options: -std=c++20
#include <barrier>
#include <thread>

int parts[2], sums[2];

int main() {
    std::barrier meeting(2);
    auto work = [&](int k) {
        parts[k] = k + 1;
        meeting.arrive_and_wait();
        sums[k] = parts[0] + parts[1];
    };
    std::thread one(work, 0), two(work, 1);
    one.join();
    two.join();
    return 0;
}
