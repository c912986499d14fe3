// Streams in memory: what is written by the library is not believed to be what was recorded last.
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

static std::mutex lock;
static std::ostringstream log_;
static int lines;

static void say(const char *what) {
    for (int round = 0; round < 3; round++) {
        std::lock_guard<std::mutex> guard(lock);
        log_ << what << ' ' << round << '\n';
        lines++;
    }
}

int main() {
    std::thread first(say, "one"), second(say, "two");
    first.join();
    second.join();
    return log_.str().size() != 36 || lines != 6;
}
