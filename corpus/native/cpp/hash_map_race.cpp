// Two threads insert into a hash map.
// options: -std=c++20
#include <thread>
#include <unordered_map>
int main() {
    std::unordered_map<int, int> squares;
    std::jthread other([&] { squares.emplace(3, 9); }); // races
    squares.emplace(4, 16); // races
}
