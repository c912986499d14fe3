// A map is searched while another thread inserts.
// options: -std=c++20
#include <map>
#include <string>
#include <thread>
int main() {
    std::map<std::string, int> ages{{"ann", 30}, {"bob", 40}};
    int age = 0;
    {
        std::jthread writer([&] { ages["eve"] = 50; }); // races
        auto found = ages.find("bob"); // races
        if (found != ages.end()) age = found->second;
    }
    return age != 40;
}
