// The handle of a thread is written by the call that starts it: before anybody can look at it, and never as zero. Only the first thread makes it zero,
// so whoever finds that comes after it.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t first;
static int x;

static void *clear(void *unused) {
    x = 1;
    pthread_mutex_lock(&mutex);
    first = 0;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_t seen = first;
    pthread_mutex_unlock(&mutex);
    if (seen == 0)
        x = 2;
    return unused;
}

int main(void) {
    pthread_t second;
    pthread_create(&first, 0, clear, 0);
    pthread_create(&second, 0, look, 0);
    pthread_join(second, 0);
    return 0;
}
