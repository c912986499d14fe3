// A transfer locks one account only.
// options: -std=c++20
#include <mutex>
#include <thread>
struct Account {
    std::mutex lock;
    int balance = 100;
};
void transfer(Account &from, Account &to) {
    std::scoped_lock guard(from.lock);
    from.balance -= 5; // races
    to.balance += 5; // races
}
int main() {
    Account one, other;
    std::jthread thread([&] { transfer(one, other); });
    transfer(other, one);
}
