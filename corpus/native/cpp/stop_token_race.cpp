// The worker is asked to stop, but not waited for.
// options: -std=c++20
#include <stop_token>
#include <thread>
int main() {
    int steps = 0;
    std::jthread worker([&](std::stop_token stop) {
        do {
            steps++; // races
        } while (!stop.stop_requested() && steps < 50); // races
    });
    worker.request_stop();
    int seen = steps; // races
    worker.join();
    return seen < 0;
}
