// A lock whose halves are a ticket and whose turn it is, taken as a whole and given up in a part: C has no such thing, but programs do, and rely on
// more than the language.
#include <pthread.h>
#include <stdint.h>

static union {
    uint32_t whole;
    struct {
        uint16_t turn, next;
    } halves;
} lock;
int counter;

static void take(void) {
    uint32_t found = __atomic_fetch_add(&lock.whole, 1 << 16, __ATOMIC_ACQUIRE);
    uint16_t ticket = (uint16_t)(found >> 16);
    while (__atomic_load_n(&lock.halves.turn, __ATOMIC_ACQUIRE) != ticket) {
    }
}
static void give_up(void) {
    uint16_t turn = __atomic_load_n(&lock.halves.turn, __ATOMIC_RELAXED);
    __atomic_store_n(&lock.halves.turn, turn + 1, __ATOMIC_RELEASE);
}

static void *count(void *unused) {
    for (int round = 0; round < 3; round++) {
        take();
        counter++;
        give_up();
    }
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, count, 0);
    pthread_create(&two, 0, count, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return counter == 6 ? 0 : 1;
}
