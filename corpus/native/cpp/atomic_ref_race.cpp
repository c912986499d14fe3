// Some accesses go through atomic_ref, and one does not.
// options: -std=c++20
#include <atomic>
#include <thread>
int main() {
    int count = 0;
    std::jthread other([&] { std::atomic_ref(count)++; }); // races
    count++; // races
}
