// options: -mcx16
// Publication by an exchange of sixteen bytes at once, which no hook knows.
#include <pthread.h>
#include <sched.h>

static _Alignas(16) unsigned __int128 word;
static int data;

static void *sender(void *unused) {
    data = 42;
    unsigned __int128 expected = 0;
    __atomic_compare_exchange_n(&word, &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    unsigned __int128 none = 0;
    while (__atomic_compare_exchange_n(&word, &none, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) sched_yield();
    data++;
    pthread_join(thread, 0);
}
