// Whoever turned the pointer still writes where it points, now without the lock.
// race: 13 22
#include <pthread.h>

int old, fresh;
int *current = &old;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&mutex);
    current = &fresh;
    pthread_mutex_unlock(&mutex);
    fresh = 1;
    old = 1;
    return unused;
}
static void *second(void *unused) {
    int *seen = &fresh;
    pthread_mutex_lock(&mutex);
    int *now = current;
    pthread_mutex_unlock(&mutex);
    *seen = now != 0;
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
