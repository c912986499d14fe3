// One thread takes a lock and another gives it up: what the first does afterwards is not protected any more.
// race: 14 24
#include <pthread.h>
#include <semaphore.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
sem_t locked;
int guarded, unguarded;

static void *take(void *unused) {
    pthread_mutex_lock(&mutex);
    guarded = 1;
    sem_post(&locked);
    unguarded = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    sem_init(&locked, 0, 0);
    pthread_create(&thread, 0, take, 0);
    sem_wait(&locked);
    pthread_mutex_unlock(&mutex);
    unguarded = 2;
    pthread_mutex_lock(&mutex);
    guarded = 2;
    pthread_join(thread, 0);
    return 0;
}
