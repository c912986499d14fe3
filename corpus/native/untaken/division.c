// Where the run stood it would divide by zero: what comes after that is not said to happen.
#include <pthread.h>

int go, by, x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *unused) {
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_mutex_unlock(&mutex);
    x = 1;
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&mutex);
    int seen = go;
    pthread_mutex_unlock(&mutex);
    if (seen == 0) {
        y = 10 / by;
        x = 2;
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    go = 0, by = 0;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
