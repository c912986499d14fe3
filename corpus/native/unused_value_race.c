// The second thread reads what the first wrote under the lock, but decides nothing by it: the sections can be swapped.
// race: 10 20
#include <pthread.h>

int x, y, z;
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
    z = y;
    pthread_mutex_unlock(&mutex);
    // Not protected.
    int r = x;
    z = r;
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
