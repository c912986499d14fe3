// A barrier for two that four threads use: in the recorded run those meet who were started together.
// race: 9 16
#include <pthread.h>

int data;
pthread_barrier_t barrier;

static void *first(void *unused) {
    data = 1;
    pthread_barrier_wait(&barrier);
    return unused;
}

static void *second(void *unused) {
    pthread_barrier_wait(&barrier);
    data = 2;
    return unused;
}

static void *other(void *unused) {
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(void) {
    pthread_t thread[4];
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread[0], 0, first, 0);
    pthread_create(&thread[1], 0, other, 0);
    pthread_create(&thread[2], 0, second, 0);
    pthread_create(&thread[3], 0, other, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], 0);
    return 0;
}
