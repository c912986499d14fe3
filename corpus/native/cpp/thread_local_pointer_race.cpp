// A pointer to a thread-local variable goes to another thread.
// options: -std=c++20
#include <atomic>
#include <thread>
thread_local int own = 1;
int main() {
    int *leaked = &own;
    std::jthread other([=] { *leaked = 5; }); // races
    own++; // races
}
