// Messages of several types go through a locked queue.
// options: -std=c++20
#include <condition_variable>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <variant>
using Message = std::variant<int, std::string, std::monostate>;
int main() {
    std::queue<Message> messages;
    std::mutex lock;
    std::condition_variable changed;
    std::size_t sum = 0;
    std::jthread actor([&] {
        for (;;) {
            std::unique_lock guard(lock);
            changed.wait(guard, [&] { return !messages.empty(); });
            Message message = std::move(messages.front());
            messages.pop();
            guard.unlock();
            if (std::holds_alternative<std::monostate>(message)) return;
            sum += std::holds_alternative<int>(message) ? std::get<int>(message) : std::get<std::string>(message).size();
        }
    });
    auto send = [&](Message message) {
        std::lock_guard guard(lock);
        messages.push(std::move(message));
        changed.notify_one();
    };
    send(3);
    send(std::string("four"));
    send(std::monostate{});
    actor.join();
    return sum != 7;
}
