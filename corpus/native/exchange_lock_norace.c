// A lock made of a compare-exchange.
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken;
int counter;

static void *work(void *unused) {
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&taken, &expected, 1, memory_order_acquire, memory_order_relaxed))
        expected = 0;
    counter++;
    atomic_store_explicit(&taken, 0, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
