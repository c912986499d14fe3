// Memory is handed on by a relaxed store: nothing orders its allocation before the first access to it.
// race: 10 18
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) block;

static void *first(void *unused) {
    int *fresh = malloc(sizeof(int));
    atomic_store_explicit(&block, fresh, memory_order_relaxed);
    return unused;
}
static void *second(void *unused) {
    int *found;
    while (!(found = atomic_load_explicit(&block, memory_order_relaxed))) {
    }
    *found = 1;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    free(block);
    return 0;
}
