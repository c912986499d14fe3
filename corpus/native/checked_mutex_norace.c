// A mutex that tells its owner that it has it already.
#include <errno.h>
#include <pthread.h>

int counter;
pthread_mutex_t mutex;

static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    if (pthread_mutex_lock(&mutex) == EDEADLK)
        counter++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_mutexattr_t checked;
    pthread_mutexattr_init(&checked);
    pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex, &checked);
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return counter - 2;
}
