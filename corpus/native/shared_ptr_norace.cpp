// The last owner destroys, after all have let go.
#include <memory>
#include <thread>

struct Data {
    int value = 1;
    ~Data() { value = 0; }
};

int main() {
    auto data = std::make_shared<Data>();
    auto work = [](std::shared_ptr<Data> mine) { return mine->value; };
    std::thread one(work, data), two(work, data);
    data.reset();
    one.join();
    two.join();
    return 0;
}
