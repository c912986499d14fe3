// Readers keep a snapshot, writers replace it.
// options: -std=c++20
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
class Table {
    mutable std::mutex lock;
    std::shared_ptr<const std::vector<int>> current = std::make_shared<std::vector<int>>();
public:
    std::shared_ptr<const std::vector<int>> snapshot() const {
        std::lock_guard guard(lock);
        return current;
    }
    void add(int value) {
        std::lock_guard guard(lock);
        auto next = std::make_shared<std::vector<int>>(*current);
        next->push_back(value);
        current = std::move(next);
    }
};
int main() {
    Table table;
    int sum = 0;
    {
        std::jthread writer([&] { for (int i = 1; i < 4; i++) table.add(i); });
        auto snapshot = table.snapshot();
        for (int value : *snapshot) sum += value;
    }
    return sum > 6;
}
