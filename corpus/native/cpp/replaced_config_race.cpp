// A configuration is freed while a reader may still use it.
// options: -std=c++20
#include <atomic>
#include <thread>
struct Config { int a, b; };
std::atomic<Config *> current{new Config{1, 1}};
int main() {
    int bad = 0;
    std::thread reader([&] {
        Config *config = current.load(std::memory_order_acquire);
        if (config->a != config->b) bad = 1; // races
    });
    Config *old = current.exchange(new Config{2, 2}, std::memory_order_acq_rel);
    delete old; // races
    reader.join();
    return bad;
}
