// The functions for atomic shared pointers.
// options: -std=c++20
#include <atomic>
#include <memory>
#include <thread>
int main() {
    std::shared_ptr<int> config = std::make_shared<int>(1);
    int seen = 0;
    {
        std::jthread reader([&] { seen = *std::atomic_load(&config); });
        std::atomic_store(&config, std::make_shared<int>(2));
    }
    return seen < 1 || *config != 2;
}
