// std::async, and what it returns.
#include <future>

int data;

int main() {
    std::future<int> result = std::async(std::launch::async, [] {
        data = 40;
        return 2;
    });
    int two = result.get();
    return data + two - 42;
}
