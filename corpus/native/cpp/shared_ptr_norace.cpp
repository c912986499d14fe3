// Each thread has a pointer of its own to the same object; weak pointers are locked.
// options: -std=c++20
#include <memory>
#include <thread>
struct Node { const int value = 3; };
int main() {
    auto shared = std::make_shared<Node>();
    std::weak_ptr<Node> weak = shared;
    int seen = 0;
    {
        std::jthread reader([own = shared, &seen]() mutable {
            seen = own->value;
            own.reset();
        });
        std::jthread other([weak] {
            if (auto own = weak.lock(); own && own->value != 3) std::terminate();
        });
        shared.reset();
    }
    return seen != 3 || !weak.expired();
}
