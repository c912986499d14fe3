// The owner of a lock ends while it holds it; whoever comes next is told, and goes on.
#include <errno.h>
#include <pthread.h>

pthread_mutex_t mutex;
int counter;
int deaths;

static void *end_with_it(void *unused) {
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD) {
        deaths++;
        pthread_mutex_consistent(&mutex);
    }
    counter++;
    return unused;
}

static void *work(void *unused) {
    for (int i = 0; i < 3; i++) {
        if (pthread_mutex_lock(&mutex) == EOWNERDEAD) {
            deaths++;
            pthread_mutex_consistent(&mutex);
        }
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t threads[4];
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, i % 2 ? work : end_with_it, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD) deaths++;
    return counter != 8 || deaths != 2;
}
