// One thread writes after the barrier what the other reads after it.
// race: 12 14
#include <pthread.h>

int data, seen;
pthread_barrier_t barrier;

static void *work(void *side) {
    pthread_barrier_wait(&barrier);
    if (side)
        // The writer.
        data = 1;
    else
        seen = data;
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, &data);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
