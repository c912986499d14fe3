// Who has waited long enough for the lock goes on without it.
// race: 11 21
#include <pthread.h>

int counter;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    struct timespec limit = {0, 0};
    int result = pthread_mutex_timedlock(&mutex, &limit);
    counter++;
    if (result == 0)
        pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t one;
    pthread_mutex_lock(&mutex);
    pthread_create(&one, 0, work, 0);
    counter++;
    pthread_join(one, 0);
    pthread_mutex_unlock(&mutex);
    return 0;
}
