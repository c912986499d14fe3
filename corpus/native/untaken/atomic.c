// What lies beside is atomic, or comes after something atomic that orders it.
#include <pthread.h>

int go, x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#include <stdatomic.h>
atomic_int flag, both;
static void *one(void *unused) {
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_mutex_unlock(&mutex);
    x = 1;
    atomic_store(&both, 1);
    atomic_store(&flag, 1);
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&mutex);
    int seen = go;
    pthread_mutex_unlock(&mutex);
    if (seen == 0) {
        atomic_store(&both, 2);
        while (!atomic_load(&flag)) {
        }
        x = 2;
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
