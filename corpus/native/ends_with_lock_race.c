// A thread ends with a lock that another one gives up for it.
// race: 10 18
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int before, after;

static void *end_with_it(void *unused) {
    pthread_mutex_lock(&mutex);
    before = 1;
    after = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, end_with_it, 0);
    before = 2;
    pthread_join(thread, 0);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    after = 2;
    pthread_mutex_unlock(&mutex);
    return 0;
}
