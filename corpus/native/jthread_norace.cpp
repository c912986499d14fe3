// A std::jthread that is asked to stop, and joined by its destructor.
// options: -std=c++20
#include <thread>

int counter;

int main() {
    {
        std::jthread thread([](std::stop_token stop) {
            do
                counter++;
            while (!stop.stop_requested());
        });
        thread.request_stop();
    }
    return counter == 0;
}
