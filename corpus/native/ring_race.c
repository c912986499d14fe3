// One fills a ring, one empties it; the ends are counted, but nothing is published.
// race: 12 21
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 4, COUNT = 4 };
int ring[SIZE], sum;
atomic_uint filled;

static void *first(void *unused) {
    for (unsigned i = 0; i < COUNT; i++) {
        ring[i % SIZE] = i;
        atomic_store_explicit(&filled, i + 1, memory_order_relaxed);
    }
    return unused;
}
static void *second(void *unused) {
    for (unsigned i = 0; i < COUNT; i++) {
        while (atomic_load_explicit(&filled, memory_order_relaxed) <= i)
            ;
        sum += ring[i % SIZE];
    }
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
