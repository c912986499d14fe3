// Elements of a vector of bits share a word.
// options: -std=c++20
#include <thread>
#include <vector>
int main() {
    std::vector<bool> done(8);
    std::jthread other([&] { done[0] = true; }); // races
    done[1] = true; // races
}
