// Readers share, writers do not.
// options: -std=c++20
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
class Cache {
    std::shared_mutex lock;
    std::map<int, int> entries{{1, 10}};
public:
    int get(int key) {
        {
            std::shared_lock guard(lock);
            if (auto found = entries.find(key); found != entries.end()) return found->second;
        }
        std::unique_lock guard(lock);
        return entries.try_emplace(key, key * 10).first->second;
    }
};
int main() {
    Cache cache;
    int one = 0;
    {
        std::jthread other([&] { one = cache.get(1) + cache.get(3); });
        cache.get(2);
        cache.get(3);
    }
    return one != 40;
}
