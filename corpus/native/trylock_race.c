// Who does not get the lock counts all the same, and main holds it until all have tried.
// race: 11 11
#include <pthread.h>

int counter;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    int got = pthread_mutex_trylock(&mutex) == 0;
    // With or without the lock.
    counter++;
    if (got)
        pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_mutex_lock(&mutex);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_mutex_unlock(&mutex);
    return 0;
}
