// The object is deleted once its user has said that it is done.
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static bool is_done = false;

int main() {
  int *account = new int(1);
  std::thread user([account] {
    std::lock_guard<std::mutex> guard(lock);
    *account += 1;
    is_done = true;
    changed.notify_one();
  });
  {
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [] { return is_done; });
    delete account;
  }
  user.join();
}
