// The order of the two sections hides the race, and what is read under the lock decides nothing.
// race: 11 19
#include <pthread.h>

int x, y, seen;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&mutex);
    x = 1;
    y = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&mutex);
    seen = x;
    pthread_mutex_unlock(&mutex);
    y = 2;
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
