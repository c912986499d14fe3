// One thread waits for the other by asking for the processor again and again.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int ready;

static void *work(void *unused) {
    usleep(20000);
    atomic_store(&ready, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    while (!atomic_load(&ready)) sched_yield();
    pthread_join(thread, 0);
    return 0;
}
