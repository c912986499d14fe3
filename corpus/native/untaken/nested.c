// Of the ways beside the one that was taken, one cannot be gone: both are read under the same lock that both are written under.
// untaken: 13 23
#include <pthread.h>

int go, x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int also;
static void *one(void *unused) {
    pthread_mutex_lock(&mutex);
    go = 1, also = 1;
    pthread_mutex_unlock(&mutex);
    x = 1;
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&mutex);
    int seen = go, other = also;
    pthread_mutex_unlock(&mutex);
    if (seen == 0) {
        if (other == 0)
            y = x;
        else
            x = 2;
    }
    return unused;
}

int main(void) {
    pthread_t a, b;
    go = 0, also = 0;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
