// A buffer with two semaphores and a mutex.
#include <pthread.h>
#include <semaphore.h>

enum { SIZE = 2, COUNT = 5 };
int buffer[SIZE], in, out, sum;
sem_t room, items;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *produce(void *unused) {
    for (int i = 0; i < COUNT; i++) {
        sem_wait(&room);
        pthread_mutex_lock(&mutex);
        buffer[in++ % SIZE] = i;
        pthread_mutex_unlock(&mutex);
        sem_post(&items);
    }
    return unused;
}
static void *consume(void *unused) {
    for (int i = 0; i < COUNT; i++) {
        sem_wait(&items);
        pthread_mutex_lock(&mutex);
        sum += buffer[out++ % SIZE];
        pthread_mutex_unlock(&mutex);
        sem_post(&room);
    }
    return unused;
}

int main(void) {
    pthread_t threads[4];
    sem_init(&room, 0, SIZE);
    sem_init(&items, 0, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, i % 2 ? consume : produce, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return sum - 20;
}
