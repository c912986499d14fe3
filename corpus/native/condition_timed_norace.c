// A wait with a time limit, again and again until there is something.
#include <pthread.h>
#include <time.h>

int data, ready;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&mutex);
    data = 42;
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *second(void *unused) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 1;
    pthread_mutex_lock(&mutex);
    while (!ready)
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
