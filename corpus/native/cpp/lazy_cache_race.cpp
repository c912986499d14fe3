// A const method fills a mutable cache.
// options: -std=c++20
#include <string>
#include <thread>
class Document {
    std::string text = "some words";
    mutable int words = -1;
public:
    int count() const {
        if (words < 0) { // races
            int found = 1;
            for (char letter : text) found += letter == ' ';
            words = found; // races
        }
        return words; // races
    }
};
int main() {
    const Document document;
    std::jthread other([&] { document.count(); });
    return document.count() != 2;
}
