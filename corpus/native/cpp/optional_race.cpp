// An optional is set while it is tested.
// options: -std=c++20
#include <optional>
#include <thread>
int main() {
    std::optional<int> answer;
    std::jthread writer([&] { answer = 42; }); // races
    return answer.has_value() && *answer > 42; // races
}
