// Threads that begin in a library: what it does between calling back is not seen, so nothing is reordered around it.
#include <pthread.h>
#include <stdio.h>

static int total;

static void first(void) { total = total + 1; }
static void second(void) { total = total + 2; }

// A library without hooks: its threads hand work on to each other in a way that nobody sees.
#define UNSEEN __attribute__((disable_sanitizer_instrumentation, noinline))

static volatile int stage;
static void (*const volatile work[2])(void) = {first, second};

UNSEEN static void *worker(void *number) {
    long me = (long)number;
    while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) != me)
        sched_yield();
    work[me]();
    __atomic_store_n(&stage, me + 1, __ATOMIC_RELEASE);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", total);
    return 0;
}
