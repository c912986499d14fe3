// A word is written atomically as a whole, and one of its bytes is read plainly.
// race: 16 21
#include <pthread.h>
#include <stdint.h>

static union {
    uint32_t whole;
    uint8_t bytes[4];
} word;
int seen;

static void *first(void *unused) {
    // The part that the other one writes before it releases is read in good order.
    while ((__atomic_load_n(&word.whole, __ATOMIC_ACQUIRE) & 0xFF) != 7) {
    }
    __atomic_fetch_or(&word.whole, 1 << 16, __ATOMIC_RELAXED);
    return unused;
}
static void *second(void *unused) {
    __atomic_store_n(&word.whole, 7, __ATOMIC_RELEASE);
    seen = word.bytes[2];
    return unused;
}

int main(void) {
    pthread_t one, two;
    word.bytes[3] = 1;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
