// options: -std=c++20
// Functions that stop in the middle and go on later, on whatever thread.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

struct Generator {
  struct promise_type {
    int value = 0;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { value = -1; }
  };
  std::coroutine_handle<promise_type> handle;
  int next() {
    handle.resume();
    return handle.promise().value;
  }
};

static int made;
static int check(int number) {
  made++;
  if (number > 50) throw std::runtime_error("too large");
  return number;
}

static Generator numbers() {
  int one = 1, other = 1;
  for (;;) {
    co_yield check(one);
    try {
      if (one == 8) check(100);
    } catch (const std::exception &) {
      made += 100;
    }
    int next = one + other;
    one = other;
    other = next;
  }
}

int main() {
  Generator generator = numbers();
  for (int k = 0; k < 5; k++) std::printf("%d ", generator.next());
  std::thread([&] {
    for (int k = 0; k < 4; k++) std::printf("%d ", generator.next());
  }).join();
  std::printf("%d\n", made);
  generator.handle.destroy();
}
