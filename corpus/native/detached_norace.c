// A thread that nobody joins tells when it is done.
#include <pthread.h>
#include <semaphore.h>

int data;
sem_t done;

static void *work(void *unused) {
    data = 42;
    sem_post(&done);
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&done, 0, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_detach(thread);
    sem_wait(&done);
    return data - 42;
}
