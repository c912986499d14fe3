// What is to be done once fails at first, and is then done by somebody else.
#include <mutex>
#include <thread>

static std::once_flag once;
static int tries, done;

static void work() {
    if (++tries == 1)
        throw 1;
    done = tries;
}

static int attempt() {
    for (;;) {
        try {
            std::call_once(once, work);
            return done;
        } catch (int) {
        }
    }
}

int main() {
    std::thread other([] { attempt(); });
    int mine = attempt();
    other.join();
    return mine == done ? 0 : 1;
}
