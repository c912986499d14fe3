// The owner lets go of the object under the lock, which the other one holds when it uses it.
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::unique_ptr<int> owner = std::make_unique<int>(1);

int main() {
  int *borrowed = owner.get();
  std::thread user([borrowed] {
    std::lock_guard<std::mutex> guard(lock);
    *borrowed += 1;
  });
  std::thread closer([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::lock_guard<std::mutex> guard(lock);
    owner.reset();
  });
  user.join();
  closer.join();
}
