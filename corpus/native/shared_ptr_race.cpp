// Owners are counted, but what they own is not protected.
// race: 9 9
#include <memory>
#include <thread>

int main() {
    auto data = std::make_shared<int>(0);
    auto work = [](std::shared_ptr<int> mine) {
        ++*mine;
    };
    std::thread one(work, data), two(work, data);
    one.join();
    two.join();
    return 0;
}
