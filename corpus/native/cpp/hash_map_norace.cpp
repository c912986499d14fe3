// A map with a lock for each part.
// options: -std=c++20
#include <array>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
class Striped {
    struct Part {
        std::mutex lock;
        std::unordered_map<std::string, int> counts;
    };
    std::array<Part, 4> parts;
public:
    void add(const std::string &word) {
        auto &part = parts[std::hash<std::string>{}(word) % parts.size()];
        std::lock_guard guard(part.lock);
        part.counts[word]++;
    }
    int total() {
        int sum = 0;
        for (auto &part : parts) {
            std::lock_guard guard(part.lock);
            for (auto &[word, count] : part.counts) sum += count;
        }
        return sum;
    }
};
int main() {
    Striped words;
    {
        std::jthread other([&] { for (auto word : {"one", "two", "three"}) words.add(word); });
        for (auto word : {"two", "three", "four"}) words.add(word);
    }
    return words.total() != 6;
}
