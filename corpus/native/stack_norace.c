// Elements of a local array, one for each thread.
#include <pthread.h>

static void *work(void *counter) {
    ++*(int *)counter;
    return 0;
}

int main(void) {
    int counters[2] = {0, 0};
    pthread_t one, two;
    pthread_create(&one, 0, work, &counters[0]);
    pthread_create(&two, 0, work, &counters[1]);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return counters[0] + counters[1] - 2;
}
