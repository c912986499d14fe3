// A vector, a map and a string behind one lock.
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

std::vector<int> list;
std::map<int, std::string> names;
std::mutex mutex;

int main() {
    auto work = [](int start) {
        for (int i = start; i < start + 4; i++) {
            std::lock_guard<std::mutex> held(mutex);
            list.push_back(i);
            names[i % 5] += "a name that is too long to be kept inside";
        }
    };
    std::thread one(work, 0), two(work, 3);
    one.join();
    two.join();
    return list.size() - 8;
}
