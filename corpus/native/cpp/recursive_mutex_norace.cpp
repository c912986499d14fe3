// Methods that lock call each other.
// options: -std=c++20
#include <mutex>
#include <thread>
class Tree {
    std::recursive_mutex lock;
    int nodes = 0;
public:
    void add(int depth) {
        std::lock_guard guard(lock);
        nodes++;
        if (depth > 0) add(depth - 1);
    }
    int count() {
        std::lock_guard guard(lock);
        return nodes;
    }
};
int main() {
    Tree tree;
    {
        std::jthread other([&] { tree.add(2); });
        tree.add(1);
    }
    return tree.count() != 5;
}
