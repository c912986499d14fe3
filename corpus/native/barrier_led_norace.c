// Whoever comes last to the first barrier of a phase sums up what all have done; the others wait for that at the second.
#include <pthread.h>

int part[3], total, seen[3];
pthread_barrier_t barrier;

static void *work(void *argument) {
    int me = *(int *)argument;
    for (int phase = 0; phase < 3; phase++) {
        part[me] = phase + total;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            total = part[0] + part[1] + part[2];
        pthread_barrier_wait(&barrier);
        seen[me] = total;
    }
    return 0;
}

int main(void) {
    pthread_t thread[3];
    int number[3] = {0, 1, 2};
    pthread_barrier_init(&barrier, 0, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], 0, work, &number[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], 0);
    return seen[0] - seen[1];
}
