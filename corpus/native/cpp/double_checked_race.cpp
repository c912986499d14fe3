// Double-checked locking with a plain pointer.
// options: -std=c++20
#include <mutex>
#include <thread>
struct Service { int port = 80; };
Service *instance;
std::mutex lock;
Service *get() {
    if (!instance) { // races
        std::lock_guard guard(lock);
        if (!instance) instance = new Service; // races
    }
    return instance; // races
}
int main() {
    int port = 0;
    {
        std::jthread other([] { get(); });
        port = get()->port;
    }
    delete instance;
    return port != 80;
}
