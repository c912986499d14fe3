// A spin lock of the library, and one that is written by hand.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int counter, other;
pthread_spinlock_t lock;
atomic_flag flag = ATOMIC_FLAG_INIT;

static void *work(void *unused) {
    pthread_spin_lock(&lock);
    counter++;
    pthread_spin_unlock(&lock);
    while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
        sched_yield();
    other++;
    atomic_flag_clear_explicit(&flag, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_spin_init(&lock, 0);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
