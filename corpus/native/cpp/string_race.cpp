// A name is assigned while it is read.
// options: -std=c++20
#include <string>
#include <thread>
int main() {
    std::string name = "short";
    std::size_t length = 0;
    {
        std::jthread reader([&] { length = name.size(); }); // races
        name = "a name that is longer than the string has room for"; // races
    }
    return length == 0;
}
