// What lies beside comes after the function has returned in which it was decided.
// untaken: 12 24
#include <pthread.h>

int go, x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *unused) {
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_mutex_unlock(&mutex);
    x = 1;
    return unused;
}

static __attribute__((noinline)) int is_early(void) {
    pthread_mutex_lock(&mutex);
    int seen = go;
    pthread_mutex_unlock(&mutex);
    return seen == 0 ? 5 : 0;
}

static void *two(void *unused) {
    if (is_early() == 5) x = 2;
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
