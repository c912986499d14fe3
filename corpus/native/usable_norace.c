// A block is used up to its real end, which lies in what another thread has freed.
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

char *given;
atomic_int freed;

static void *work(void *unused) {
    given[2995] = 1;
    free(given);
    atomic_store_explicit(&freed, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t thread;
    given = malloc(3000);
    char *guard = malloc(3000);
    pthread_create(&thread, 0, work, 0);
    while (!atomic_load_explicit(&freed, memory_order_relaxed))
        ;
    char *again = malloc(2990);
    again[malloc_usable_size(again) - 5] = 2;
    pthread_join(thread, 0);
    free(again);
    free(guard);
    return 0;
}
