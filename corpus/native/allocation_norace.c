// Memory is allocated by one thread and written first by another, who acquires what the first one released.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) block;

static void *first(void *unused) {
    for (int round = 0; round < 3; round++) {
        int *fresh = malloc(2 * sizeof(int));
        atomic_store_explicit(&block, fresh, memory_order_release);
        while (atomic_load_explicit(&block, memory_order_acquire)) {
        }
    }
    return unused;
}
static void *second(void *unused) {
    for (int round = 0; round < 3; round++) {
        int *found;
        while (!(found = atomic_load_explicit(&block, memory_order_acquire))) {
        }
        found[1] = round;
        free(found);
        atomic_store_explicit(&block, 0, memory_order_release);
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
