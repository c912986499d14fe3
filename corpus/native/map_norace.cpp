// options: -std=c++20
// Threads insert into, search, walk and erase from trees and lists that a lock protects.
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>

static std::map<int, int> squares;
static std::set<int> keys;
static std::list<int> waiting, done;
static std::mutex lock;

static void work(int from) {
    for (int round = 0; round < 12; round++) {
        std::lock_guard guard(lock);
        int key = (from + round * 5) % 17;
        squares[key] = key * key;
        keys.insert(key);
        waiting.push_back(key);
        if (round % 3 == 2) {
            squares.erase(squares.begin());
            keys.erase(key);
            done.splice(done.begin(), waiting, waiting.begin());
            waiting.pop_back();
        }
        int sum = 0;
        for (auto [number, square] : squares) sum += square - number * number;
        for (auto at = keys.rbegin(); at != keys.rend(); ++at) sum += *at < 0;
        if (sum != 0) std::abort();
    }
}

int main() {
    std::thread first(work, 0), second(work, 3);
    work(6);
    first.join();
    second.join();
    return done.size() != 12;
}
