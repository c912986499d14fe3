// An object is written and read atomically as a whole, and a member of it is written plainly.
// race: 15 20
// race: 17 20
#include <cstdint>
#include <thread>

struct alignas(8) Point {
    std::uint32_t x, y;
};
static Point point;

int main() {
    std::thread whole([] {
        Point next = {1, 2}, seen = {0, 0};
        __atomic_store(&point, &next, __ATOMIC_RELEASE);
        next.x = 4;
        __atomic_load(&point, &seen, __ATOMIC_ACQUIRE);
        return seen.x + next.x;
    });
    std::thread part([] { point.y = 3; });
    whole.join();
    part.join();
    return 0;
}
