// A getter returns a reference out of its lock.
// options: -std=c++20
#include <mutex>
#include <thread>
#include <vector>
class Log {
    std::mutex lock;
    std::vector<int> entries{1, 2};
public:
    std::vector<int> &all() {
        std::lock_guard guard(lock);
        return entries;
    }
    void add(int entry) {
        std::lock_guard guard(lock);
        entries.push_back(entry); // races
    }
};
int main() {
    Log log;
    std::jthread writer([&] { log.add(3); });
    return log.all().size() < 2; // races
}
