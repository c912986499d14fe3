// What lies beside holds the lock that protects it.
#include <pthread.h>

int go, x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *unused) {
    pthread_mutex_lock(&mutex);
    go = 1;
    x = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&mutex);
    int seen = go;
    pthread_mutex_unlock(&mutex);
    if (seen == 0) {
        pthread_mutex_lock(&mutex);
        x = 2;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    go = 0;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
