// By the rules of C11, a relaxed store of the same thread continues a release sequence.
#include <pthread.h>
#include <stdatomic.h>

int data;
atomic_int flag;

static void *first(void *unused) {
    data = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
    return unused;
}
static void *second(void *unused) {
    while (atomic_load_explicit(&flag, memory_order_relaxed) != 2) {
    }
    atomic_load_explicit(&flag, memory_order_acquire);
    data++;
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
