// A cache is filled under a shared lock.
// options: -std=c++20
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
class Cache {
    std::shared_mutex lock;
    int hits = 0;
    std::map<int, int> entries{{1, 10}};
public:
    int get(int key) {
        std::shared_lock guard(lock);
        hits++; // races
        auto found = entries.find(key);
        return found == entries.end() ? 0 : found->second;
    }
};
int main() {
    Cache cache;
    std::jthread other([&] { cache.get(1); });
    cache.get(2);
}
