// Functions that are left in all ways: by returning, by exceptions, by a long jump, and out of code that is not instrumented.
#include <pthread.h>

#include <csetjmp>
#include <cstdlib>
#include <stdexcept>

namespace bank {
struct Account {
  int balance = 0;
  void deposit(int amount) {
    if (amount > 1) throw std::runtime_error("too much");
    balance += amount;
  }
};
} // namespace bank

static bank::Account account;
static int caught, jumps, compared, depth, after;
static thread_local jmp_buf back;

static void jump() {
  jumps++;
  longjmp(back, 1);
}

static int compare(const void *one, const void *other) {
  compared++;
  return *(const int *)one - *(const int *)other;
}

static void descend(int steps) {
  if (steps > 0) descend(steps - 1);
  depth++;
}

static void *work(void *) {
  for (int amount = 0; amount < 3; amount++) {
    try {
      account.deposit(amount);
    } catch (const std::exception &) {
      caught++;
    }
  }
  if (setjmp(back) == 0) jump();
  int numbers[] = {2, 1};
  qsort(numbers, 2, sizeof(int), compare);
  descend(2);
  after++;
  return nullptr;
}

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
  work(nullptr);
  pthread_join(thread, nullptr);
}
