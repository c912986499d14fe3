// Two posts, two permits taken: which post serves which wait is no matter, so the first that is served may be by the other.
// race: 10 21
#include <pthread.h>
#include <semaphore.h>

int data;
sem_t permits;

static void *first(void *unused) {
    data = 1;
    sem_post(&permits);
    return unused;
}
static void *second(void *unused) {
    sem_post(&permits);
    return unused;
}

static void *third(void *unused) {
    sem_wait(&permits);
    data++;
    return unused;
}

int main(void) {
    pthread_t thread[3];
    sem_init(&permits, 0, 0);
    pthread_create(&thread[0], 0, first, 0);
    pthread_create(&thread[1], 0, second, 0);
    pthread_create(&thread[2], 0, third, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], 0);
    return 0;
}
