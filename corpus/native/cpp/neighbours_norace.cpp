// Neighbouring elements of arrays and members of structures are no race.
// options: -std=c++20
#include <thread>
#include <vector>
struct Pair { char left, right; };
int main() {
    std::vector<char> bytes(8);
    Pair pair{};
    {
        std::jthread other([&] {
            bytes[0] = 1;
            pair.left = 1;
        });
        bytes[1] = 2;
        pair.right = 2;
    }
    return bytes[0] + bytes[1] + pair.left + pair.right != 6;
}
