// One fills a ring, one empties it.
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 4, COUNT = 10 };
int ring[SIZE], sum;
atomic_uint filled, emptied;

static void *first(void *unused) {
    for (unsigned i = 0; i < COUNT; i++) {
        while (i - atomic_load_explicit(&emptied, memory_order_acquire) == SIZE)
            ;
        ring[i % SIZE] = i;
        atomic_store_explicit(&filled, i + 1, memory_order_release);
    }
    return unused;
}
static void *second(void *unused) {
    for (unsigned i = 0; i < COUNT; i++) {
        while (atomic_load_explicit(&filled, memory_order_acquire) == i)
            ;
        sum += ring[i % SIZE];
        atomic_store_explicit(&emptied, i + 1, memory_order_release);
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
