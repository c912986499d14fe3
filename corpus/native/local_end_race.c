// A function returns although another thread may still use its variable: that it was told so by a relaxed flag does not help.
// race: 16 22
#include <pthread.h>
#include <stdatomic.h>

_Atomic(int *) known;
atomic_int seen, done;

static void lend(void) {
    int variable = 1;
    int own = 2;
    atomic_store_explicit(&known, &variable, memory_order_release);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
    }
    atomic_fetch_add(&seen, own);
}
static void *borrow(void *unused) {
    int *found;
    while (!(found = atomic_load_explicit(&known, memory_order_acquire))) {
    }
    // Reads what is no more once the other one returns.
    int value = *found;
    atomic_store_explicit(&done, value, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t one;
    pthread_create(&one, 0, borrow, 0);
    lend();
    pthread_join(one, 0);
    return 0;
}
