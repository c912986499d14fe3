// A lock whose owners end while they hold it protects what is accessed under it, and nothing else.
// race: 13 26
#include <errno.h>
#include <pthread.h>

pthread_mutex_t mutex;
int counter;
int other;

static void *end_with_it(void *unused) {
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD) pthread_mutex_consistent(&mutex);
    counter++;
    other = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, end_with_it, 0);
    pthread_mutex_unlock(&mutex);
    other = 2;
    pthread_join(thread, 0);
    return counter != 1;
}
