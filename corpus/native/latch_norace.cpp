// std::latch: all have written before one reads.
// options: -std=c++20
#include <latch>
#include <thread>

int parts[2], sum;

int main() {
    std::latch done(2);
    auto work = [&](int k) {
        parts[k] = k + 1;
        done.count_down();
    };
    std::thread one(work, 0), two(work, 1);
    done.wait();
    sum = parts[0] + parts[1];
    one.join();
    two.join();
    return sum - 3;
}
