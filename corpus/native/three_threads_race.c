// A third thread takes the lock in between, which says nothing about the other two.
// race: 9 25
#include <pthread.h>

int x, z;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    x = 1;
    pthread_mutex_lock(&mutex);
    z = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *middle(void *unused) {
    pthread_mutex_lock(&mutex);
    z = 2;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&mutex);
    z = 3;
    pthread_mutex_unlock(&mutex);
    x = 2;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, middle, 0);
    pthread_create(&threads[2], 0, second, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
