// Two wait for one, who wakes both.
#include <pthread.h>

int data, ready, results[2];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *wait_for_it(void *result) {
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    *(int *)result = data;
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, wait_for_it, &results[0]);
    pthread_create(&two, 0, wait_for_it, &results[1]);
    data = 42;
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return results[0] + results[1] - 84;
}
