// To look at the clock orders nothing.
// race: 11 11
#include <pthread.h>
#include <time.h>

int counter;

static void *work(void *unused) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    counter++;
    clock_gettime(CLOCK_MONOTONIC, &now);
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
