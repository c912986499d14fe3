// Threads whose end is waited for in all ways that there are.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

static int parts[3];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int readers;

static void *work(void *part) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += 20;
    if (pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &time) == 0) {
        readers++;
        pthread_rwlock_unlock(&lock);
    }
    *(int *)part = 1;
    return part;
}

int main(void) {
    pthread_t threads[3];
    struct timespec time;
    void *result = NULL;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, &parts[i]);
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 20;
    while (pthread_tryjoin_np(threads[0], &result) == EBUSY)
        sched_yield();
    int sum = *(int *)result;
    if (pthread_timedjoin_np(threads[1], NULL, &time) == 0)
        sum += parts[1];
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += 20;
    pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &time);
    sum += readers > 3;
    pthread_rwlock_unlock(&lock);
    if (pthread_clockjoin_np(threads[2], NULL, CLOCK_MONOTONIC, &time) == 0)
        sum += parts[2];
    return sum != 3;
}
