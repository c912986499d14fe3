// Every kind of atomic operation on one word.
#include <pthread.h>
#include <stdatomic.h>

atomic_int word;
atomic_uchar small;

static void *work(void *unused) {
    atomic_fetch_add(&word, 3);
    atomic_fetch_xor_explicit(&word, 5, memory_order_relaxed);
    int expected = 1;
    atomic_compare_exchange_strong(&word, &expected, 7);
    atomic_exchange_explicit(&small, 2, memory_order_acq_rel);
    atomic_fetch_sub(&small, 1);
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
