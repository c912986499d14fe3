// A thread that nobody joins works on after it has told that it is done.
// race: 11 23
#include <pthread.h>
#include <semaphore.h>

int data;
sem_t begun, done;

static void *work(void *unused) {
    sem_post(&begun);
    data = 42;
    sem_post(&done);
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&begun, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
    sem_wait(&begun);
    data++;
    sem_wait(&done);
    return 0;
}
