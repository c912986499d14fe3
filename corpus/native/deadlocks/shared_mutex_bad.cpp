// A reader of a std::shared_mutex wants a mutex, whose holder wants to write.
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex table;
static std::mutex entry;
static int entries;

int main() {
    std::thread reader([] {
        std::shared_lock<std::shared_mutex> reading(table);
        std::lock_guard<std::mutex> changing(entry);
        entries++;
    });
    std::thread writer([] {
        std::lock_guard<std::mutex> changing(entry);
        std::unique_lock<std::shared_mutex> writing(table);
        entries++;
    });
    reader.join();
    writer.join();
}
