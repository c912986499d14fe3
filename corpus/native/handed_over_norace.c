// A mutex as a signal: the one thread waits by locking it a second time, and the other lets it go on by unlocking it. One of them is on the heap.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t go = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *back;
static int data;

static void *answer(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&go);
        data++;
        pthread_mutex_unlock(back);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    back = malloc(sizeof *back);
    pthread_mutex_init(back, 0);
    pthread_mutex_lock(&go);
    pthread_mutex_lock(back);
    pthread_create(&thread, 0, answer, 0);
    for (int i = 0; i < 3; i++) {
        data++;
        pthread_mutex_unlock(&go);
        pthread_mutex_lock(back);
    }
    pthread_join(thread, 0);
    free(back);
    return data != 6;
}
