// race: 15 21
// What goes to the console orders nothing.
#include <chrono>
#include <iostream>
#include <string>
#include <thread>

static int value;
static std::string greeting = "a greeting that does not fit into the string itself";

static void speak() {
    std::cout << "hello " << 3 << ' ' << 2.5 << std::endl;
    auto now = std::chrono::steady_clock::now();
    std::cerr << (now.time_since_epoch().count() > 0) << std::flush;
    value = 1;
}

int main() {
    std::thread thread(speak);
    std::cout << greeting << std::endl;
    value = 2;
    thread.join();
    std::cout << value << "\n";
    return 0;
}
