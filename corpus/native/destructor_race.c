// What runs after `main` stops a thread, and touches what that works on before it has joined it.
// race: 13 24
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t worker;
static int stops, guarded, unguarded;

static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    guarded++;
    unguarded++;
    while (!stops) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

__attribute__((destructor)) static void stop(void) {
    pthread_mutex_lock(&mutex);
    stops = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    unguarded++;
    pthread_join(worker, 0);
    guarded++;
}

int main(void) {
    pthread_create(&worker, 0, work, 0);
    return 0;
}
