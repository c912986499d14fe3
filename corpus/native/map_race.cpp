// options: -std=c++20
// race: 22 30
// What threads do to containers of their own orders nothing.
#include <list>
#include <map>
#include <string>
#include <thread>

static std::map<int, std::string> names, others;
static std::list<int> order;
static int changes;

static void add(std::map<int, std::string> &to) {
    for (int key = 0; key < 5; key++) {
        to[key * 7 % 10] = "a name that does not fit into the string itself";
    }
    to.erase(to.begin());
}

static void work() {
    add(names);
    changes = 1;
}

int main() {
    std::thread thread(work);
    add(others);
    order.push_front(3);
    // Neither tree was seen by the other thread.
    changes = 2;
    thread.join();
    return names.size() != others.size() || order.size() != 1;
}
