// Two cases and the default lie beside; of those one asks for a number that nobody ever writes.
// untaken: 12 28
#include <pthread.h>

int go, x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *unused) {
    pthread_mutex_lock(&mutex);
    go = 7;
    pthread_mutex_unlock(&mutex);
    x = 1;
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&mutex);
    int seen = go;
    pthread_mutex_unlock(&mutex);
    switch (seen) {
    case 7:
        y = 1;
        break;
    case 3:
        x = 3;
        break;
    case 0:
        x = 2;
        break;
    default:
        x = 4;
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
