// Libraries write what they are given: none of these is zero any more when it is looked at beside the way that was gone.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

int go, x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t started;
static void *result, *block;

static void *nothing(void *unused) {
    return &go;
}

static void *one(void *unused) {
    x = 1;
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *two(void *unused) {
    int *error = &errno;
    *error = 0;
    started = 0;
    result = 0;
    block = 0;
    pthread_create(&started, 0, nothing, 0);
    pthread_join(started, &result);
    if (posix_memalign(&block, 16, 32) != 0)
        return 0;
    long large = strtol("99999999999999999999999", 0, 10);
    pthread_mutex_lock(&mutex);
    int seen = go;
    pthread_mutex_unlock(&mutex);
    if (seen == 0) {
        if (started == 0)
            x = 2;
        if (result == 0)
            x = 3;
        if (block == 0)
            x = 4;
        if (*error == 0)
            x = 5;
    }
    free(block);
    return (void *)large;
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
