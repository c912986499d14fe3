// Phases between barriers.
#include <pthread.h>

int left, right;
pthread_barrier_t barrier;

static void *work(void *side) {
    for (int i = 0; i < 3; i++) {
        if (side)
            left = i + right;
        pthread_barrier_wait(&barrier);
        if (!side)
            right = i + left;
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, &left);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
