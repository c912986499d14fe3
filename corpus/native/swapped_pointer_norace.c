// A pointer is turned to what was just written; who follows it was ordered by the lock, or follows it elsewhere.
#include <pthread.h>

int old, fresh;
int *current = &old;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    fresh = 1;
    pthread_mutex_lock(&mutex);
    current = &fresh;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&mutex);
    int *seen = current;
    pthread_mutex_unlock(&mutex);
    *seen = 2;
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
