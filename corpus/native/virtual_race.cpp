// A virtual function, called by two.
// race: 13 13
#include <memory>
#include <thread>

struct Shape {
    virtual ~Shape() = default;
    virtual void grow() = 0;
};
struct Square : Shape {
    int side = 1;
    void grow() override {
        side++;
    }
};

int main() {
    std::unique_ptr<Shape> shape = std::make_unique<Square>();
    std::thread one([&] { shape->grow(); }), two([&] { shape->grow(); });
    one.join();
    two.join();
    return 0;
}
