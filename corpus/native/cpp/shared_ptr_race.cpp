// A shared pointer itself is replaced while it is copied.
// options: -std=c++20
#include <memory>
#include <thread>
int main() {
    auto config = std::make_shared<int>(1);
    std::jthread reader([&] {
        std::shared_ptr<int> own = config; // races
        if (*own > 2) *own = 0;
    });
    config = std::make_shared<int>(2); // races
}
