// A transfer locks both accounts, in any order.
// options: -std=c++20
#include <mutex>
#include <thread>
struct Account {
    std::mutex lock;
    int balance = 100;
};
void transfer(Account &from, Account &to) {
    std::scoped_lock guard(from.lock, to.lock);
    from.balance -= 5;
    to.balance += 5;
}
int main() {
    Account one, other;
    {
        std::jthread thread([&] { transfer(one, other); });
        transfer(other, one);
    }
    return one.balance != 100;
}
