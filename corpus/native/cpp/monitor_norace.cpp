// A value that can only be reached under its lock.
// options: -std=c++20
#include <mutex>
#include <string>
#include <thread>
template <class T> class Monitor {
    mutable T value;
    mutable std::mutex lock;
public:
    explicit Monitor(T start) : value(std::move(start)) {}
    template <class F> auto operator()(F act) const {
        std::lock_guard guard(lock);
        return act(value);
    }
};
int main() {
    Monitor text(std::string("start, long enough for the heap. "));
    {
        std::jthread other([&] { text([](std::string &value) { value += "one"; }); });
        text([](std::string &value) { value += "two"; });
    }
    return text([](std::string &value) { return value.size(); }) != 39;
}
