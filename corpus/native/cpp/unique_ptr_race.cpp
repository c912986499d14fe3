// An owner is moved away while another thread uses the object.
// options: -std=c++20
#include <memory>
#include <thread>
int main() {
    auto owner = std::make_unique<int>(1);
    std::jthread user([&] {
        if (owner) *owner += 1; // races
    });
    auto other = std::move(owner); // races
}
