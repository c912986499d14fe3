// A thousand threads one after the other, then a thousand at once.
#include <pthread.h>

enum { COUNT = 1000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static int shared;

static void *count(void *meets) {
    if (meets) pthread_barrier_wait(&all);
    pthread_mutex_lock(&lock);
    shared++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    static pthread_t threads[COUNT];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < COUNT; i++) {
        pthread_create(&threads[0], &small, count, 0);
        pthread_join(threads[0], 0);
    }
    pthread_barrier_init(&all, 0, COUNT);
    for (int i = 0; i < COUNT; i++) pthread_create(&threads[i], &small, count, &all);
    for (int i = 0; i < COUNT; i++) pthread_join(threads[i], 0);
    return shared != 2 * COUNT;
}
