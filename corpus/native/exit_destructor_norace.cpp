// A local static is made by one thread, and destroyed by another one, which ends the process.
#include <cstdlib>
#include <thread>
struct Log {
    int lines = 1;
    ~Log() { lines = 0; }
};
static void use() { static Log log; }
int main() {
    std::thread([] { use(); }).detach();
    std::thread([] { std::exit(0); }).join();
}
