// What lies beside is done under another lock, and once more under none; the lock is given up in between.
// untaken: 14 28
// untaken: 14 30
#include <pthread.h>

int go, x;
pthread_mutex_t deciding = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *unused) {
    pthread_mutex_lock(&deciding);
    go = 1;
    pthread_mutex_unlock(&deciding);
    pthread_mutex_lock(&deciding);
    x = 1;
    pthread_mutex_unlock(&deciding);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&deciding);
    int seen = go;
    pthread_mutex_unlock(&deciding);
    if (seen == 0) {
        if (pthread_mutex_lock(&other) != 0)
            return 0;
        x = 2;
        pthread_mutex_unlock(&other);
        x = 3;
        pthread_mutex_lock(&deciding);
        x = 4;
        pthread_mutex_unlock(&deciding);
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
