// Each thread has a reference of its own.
#include <memory>
#include <mutex>
#include <thread>

struct Account {
  std::mutex lock;
  int balance = 1;
};

static void use(std::shared_ptr<Account> account) {
  std::lock_guard<std::mutex> guard(account->lock);
  account->balance += 1;
}

int main() {
  auto account = std::make_shared<Account>();
  std::thread one(use, account);
  std::thread other(use, account);
  account.reset();
  one.join();
  other.join();
}
