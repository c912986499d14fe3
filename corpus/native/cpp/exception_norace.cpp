// A worker passes its exception on to the thread that joins it.
// options: -std=c++20
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
int main() {
    std::exception_ptr error;
    std::string text;
    std::thread worker([&] {
        try {
            throw std::runtime_error("a text that is long enough for the heap, and some more");
        } catch (...) {
            error = std::current_exception();
        }
    });
    worker.join();
    try {
        std::rethrow_exception(error);
    } catch (const std::runtime_error &failure) {
        text = failure.what();
    }
    return text.size() < 40;
}
