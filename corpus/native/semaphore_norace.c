// A semaphore without permits hands the data over.
#include <pthread.h>
#include <semaphore.h>

int data;
sem_t full;

static void *produce(void *unused) {
    data = 1;
    sem_post(&full);
    return unused;
}
static void *consume(void *unused) {
    sem_wait(&full);
    data++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    sem_init(&full, 0, 0);
    pthread_create(&one, 0, produce, 0);
    pthread_create(&two, 0, consume, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
