// Two threads count without a lock.
// race: 8 8
#include <pthread.h>

int counter;

static void *count(void *unused) {
    counter++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, count, 0);
    pthread_create(&two, 0, count, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
