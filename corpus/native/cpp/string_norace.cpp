// Each thread builds a string of its own; they are joined under a lock.
// options: -std=c++20
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
int main() {
    std::string all;
    std::mutex lock;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([&, i] {
                std::ostringstream text;
                text << "part " << i << ", which is long enough for the heap; ";
                std::lock_guard guard(lock);
                all += text.str();
            });
    }
    return all.size() < 100;
}
