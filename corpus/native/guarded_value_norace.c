// Like unused_value_race.c, but the second thread goes on only if it has seen what the first wrote.
#include <pthread.h>

int x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    x = 1;
    pthread_mutex_lock(&mutex);
    y = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&mutex);
    int ready = y;
    pthread_mutex_unlock(&mutex);
    if (ready)
        x = 2;
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
