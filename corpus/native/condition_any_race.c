// Either of two signals may wake the thread that waits, so what comes before the one is not ordered before what it does.
// race: 23 34
#include <pthread.h>
#include <sched.h>

int waiting, data;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t told = PTHREAD_COND_INITIALIZER;

static void tell(void) {
    pthread_mutex_lock(&mutex);
    while (!waiting) {
        pthread_mutex_unlock(&mutex);
        sched_yield();
        pthread_mutex_lock(&mutex);
    }
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&mutex);
}

static void *first(void *unused) {
    // Before it tells.
    data = 1;
    tell();
    return unused;
}
static void *second(void *unused) { return tell(), unused; }

static void *third(void *unused) {
    pthread_mutex_lock(&mutex);
    waiting = 1;
    pthread_cond_wait(&told, &mutex);
    pthread_mutex_unlock(&mutex);
    data++;
    return unused;
}

int main(void) {
    pthread_t thread[3];
    pthread_create(&thread[0], 0, first, 0);
    pthread_create(&thread[1], 0, second, 0);
    pthread_create(&thread[2], 0, third, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], 0);
    return 0;
}
