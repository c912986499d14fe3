// Beside, the pointer is another one: what it points to then is nobody else's.
#include <pthread.h>

int go, x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int mine;
int *where;
static void *one(void *unused) {
    pthread_mutex_lock(&mutex);
    go = 1;
    where = &x;
    pthread_mutex_unlock(&mutex);
    x = 1;
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&mutex);
    int seen = go;
    int *to = where;
    pthread_mutex_unlock(&mutex);
    if (seen == 0)
        *to = 2;
    return unused;
}

int main(void) {
    pthread_t a, b;
    go = 0, where = &mine;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
