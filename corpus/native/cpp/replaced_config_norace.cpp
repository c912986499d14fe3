// The old configuration is freed once the reader has ended.
// options: -std=c++20
#include <atomic>
#include <thread>
struct Config { int a, b; };
std::atomic<Config *> current{new Config{1, 1}};
int main() {
    int bad = 0;
    std::thread reader([&] {
        Config *config = current.load(std::memory_order_acquire);
        if (config->a != config->b) bad = 1;
    });
    Config *old = current.exchange(new Config{2, 2}, std::memory_order_acq_rel);
    reader.join();
    delete old;
    delete current.load();
    return bad;
}
