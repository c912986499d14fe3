// The worker is stopped and joined; a callback runs where the stop is asked for.
// options: -std=c++20
#include <atomic>
#include <stop_token>
#include <thread>
int main() {
    int steps = 0, calls = 0;
    {
        std::jthread worker([&](std::stop_token stop) {
            do {
                steps++;
            } while (!stop.stop_requested() && steps < 50);
        });
        std::stop_callback callback(worker.get_stop_token(), [&] { calls++; });
        worker.request_stop();
    }
    return steps < 1 || calls != 1;
}
