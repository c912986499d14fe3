// A handler waits for another thread, by sleeping and by a lock-free flag; its own thread may just have been about to go on.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static sem_t suspended;
static atomic_int may_resume, stops;
static int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void suspend(int number) {
    (void)number;
    sem_post(&suspended);
    while (!atomic_load(&may_resume)) usleep(500);
}

static void *work(void *unused) {
    while (!atomic_load(&stops)) {
        pthread_mutex_lock(&mutex);
        data++;
        pthread_mutex_unlock(&mutex);
        usleep(100);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&suspended, 0, 0);
    signal(SIGUSR1, suspend);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    usleep(300);
    for (int i = 0; i < 2; i++) pthread_kill(threads[i], SIGUSR1);
    for (int i = 0; i < 2; i++) {
        while (sem_wait(&suspended)) {}
    }
    atomic_store(&may_resume, 1);
    usleep(1000);
    atomic_store(&stops, 1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
