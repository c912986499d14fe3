// Published by a plain flag: both the flag and the data race.
// race: 9 14
// race: 10 15
#include <pthread.h>

int data, ready, sum;

static void *first(void *unused) {
    data = 42;
    ready = 1;
    return unused;
}
static void *second(void *unused) {
    int value = data;
    value += ready;
    sum = value;
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
