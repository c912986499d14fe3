// An exception object is shared between two threads.
// options: -std=c++20
#include <exception>
#include <stdexcept>
#include <thread>
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
    mutable int seen = 0;
};
void look(std::exception_ptr error) {
    try {
        std::rethrow_exception(error);
    } catch (const Failure &failure) {
        failure.seen++; // races
    }
}
int main() {
    auto error = std::make_exception_ptr(Failure("shared"));
    std::jthread other([=] { look(error); });
    look(error);
}
