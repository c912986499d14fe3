// std::latch: one is waited for, but two write.
// race: 13 16
// options: -std=c++20
#include <latch>
#include <thread>

int part, sum;

int main() {
    std::latch done(1);
    std::thread one([&] { done.count_down(); });
    std::thread two([&] {
        part = 1;
    });
    done.wait();
    sum = part;
    one.join();
    two.join();
    return 0;
}
