// A semaphore with a spare permit protects nothing.
// race: 10 10
#include <pthread.h>
#include <semaphore.h>

int data;
sem_t permits;
static void *work(void *unused) {
    sem_wait(&permits);
    data++;
    sem_post(&permits);
    return unused;
}

int main(void) {
    pthread_t one, two;
    sem_init(&permits, 0, 2);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
