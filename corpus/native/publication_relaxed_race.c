// Published with relaxed atomics: nothing orders the data.
// race: 10 17
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>

int data, seen;
atomic_int ready;
static void *publish(void *unused) {
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}
static void *use(void *unused) {
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        sched_yield();
    seen = data;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, publish, 0);
    pthread_create(&two, 0, use, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
