// Observers are copied under the lock and called without it.
// options: -std=c++20
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
class Subject {
    std::mutex lock;
    std::vector<std::function<void(int)>> observers;
public:
    void attach(std::function<void(int)> observer) {
        std::lock_guard guard(lock);
        observers.push_back(std::move(observer));
    }
    void notify(int value) {
        std::vector<std::function<void(int)>> copy;
        {
            std::lock_guard guard(lock);
            copy = observers;
        }
        for (auto &observer : copy) observer(value);
    }
};
int main() {
    Subject subject;
    std::mutex lock;
    int sum = 0;
    auto add = [&](int value) {
        std::lock_guard guard(lock);
        sum += value;
    };
    subject.attach(add);
    {
        std::jthread other([&] { subject.notify(2); });
        subject.attach(add);
        subject.notify(3);
    }
    return sum < 8;
}
