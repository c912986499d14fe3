// A thread waits for the end of another, and holds the lock that the other wants.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *boss(void *worker) {
    pthread_mutex_lock(&lock);
    pthread_join(*(pthread_t *)worker, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t worker, joiner;
    pthread_create(&worker, 0, work, 0);
    pthread_create(&joiner, 0, boss, &worker);
    pthread_join(joiner, 0);
    return 0;
}
