// Bit fields share a word.
// options: -std=c++20
#include <thread>
struct Flags { unsigned ready : 1, urgent : 1; };
int main() {
    Flags flags{};
    std::jthread other([&] { flags.ready = 1; }); // races
    flags.urgent = 1; // races
}
