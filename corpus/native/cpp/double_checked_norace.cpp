// Double-checked locking with an atomic pointer, and a local static.
// options: -std=c++20
#include <atomic>
#include <mutex>
#include <thread>
struct Service { int port = 80; };
std::atomic<Service *> instance;
std::mutex lock;
Service *get() {
    Service *found = instance.load(std::memory_order_acquire);
    if (!found) {
        std::lock_guard guard(lock);
        found = instance.load(std::memory_order_relaxed);
        if (!found) {
            found = new Service;
            instance.store(found, std::memory_order_release);
        }
    }
    return found;
}
Service &single() {
    static Service service{8080};
    return service;
}
int main() {
    int port = 0;
    {
        std::jthread other([] { get(); single(); });
        port = get()->port + single().port;
    }
    delete instance.load();
    return port != 8160;
}
