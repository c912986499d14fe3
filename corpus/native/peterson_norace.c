// Peterson's lock, with atomics.
#include <pthread.h>
#include <stdatomic.h>

atomic_int wants[2], last;
int counter;

static void *work(void *number) {
    int me = number != 0;
    atomic_store(&wants[me], 1);
    atomic_store(&last, me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&last) == me)
        ;
    counter++;
    atomic_store(&wants[me], 0);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, &counter);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return counter - 2;
}
