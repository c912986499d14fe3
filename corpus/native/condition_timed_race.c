// Whether the wait ended by a signal or by the clock is not looked at.
// race: 12 23
// shown by: serial
#include <pthread.h>
#include <time.h>

int data;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *first(void *unused) {
    data = 42;
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *second(void *unused) {
    struct timespec limit = {0, 0};
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&changed, &mutex, &limit);
    pthread_mutex_unlock(&mutex);
    data++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
