// Times and clocks that cannot be waited by, and locks that their owner wants again: the C library refuses at once.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;

static void say(const char *what, int result) { printf("%s %d\n", what, result); }
static void say_error(const char *what, int result) { printf("%s %d %d\n", what, result, result ? errno : 0); }

static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_BOOTTIME, 4711};

/// All functions that wait until a time, with one that has passed or is none.
static void try_all(struct timespec time) {
    say("mutex", pthread_mutex_timedlock(&held, &time));
    if (pthread_mutex_timedlock(&mutex, &time) == 0)
        say("free mutex", pthread_mutex_unlock(&mutex));
    pthread_mutex_lock(&mutex);
    say("condition", pthread_cond_timedwait(&condition, &mutex, &time));
    for (int i = 0; i < 5; i++) {
        say("mutex by clock", pthread_mutex_clocklock(&held, clocks[i], &time));
        say("condition by clock", pthread_cond_clockwait(&condition, &mutex, clocks[i], &time));
        say_error("semaphore by clock", sem_clockwait(&semaphore, clocks[i], &time));
        say("reader by clock", pthread_rwlock_clockrdlock(&lock, clocks[i], &time));
        say("writer by clock", pthread_rwlock_clockwrlock(&lock, clocks[i], &time));
    }
    pthread_mutex_unlock(&mutex);
    say_error("semaphore", sem_timedwait(&semaphore, &time));
    say("reader", pthread_rwlock_timedrdlock(&lock, &time));
    say("writer", pthread_rwlock_timedwrlock(&lock, &time));
}

static void *other(void *unused) {
    try_all((struct timespec){1, 0});
    try_all((struct timespec){1, -1});
    try_all((struct timespec){time(0) + 100, 1000000000});
    return unused;
}

static void *owner(void *unused) {
    struct timespec passed = {1, 0};
    say("own reader", pthread_rwlock_rdlock(&lock));
    say("own writer", pthread_rwlock_wrlock(&lock));
    say("own timed reader", pthread_rwlock_timedrdlock(&lock, &passed));
    say("own timed writer", pthread_rwlock_timedwrlock(&lock, &passed));
    return unused;
}

static void sleep_badly(void) {
    struct timespec none = {0, 1000000000}, before = {-1, 0};
    say_error("sleep", nanosleep(&none, 0));
    say_error("sleep before", nanosleep(&before, 0));
    say("sleep by clock", clock_nanosleep(CLOCK_MONOTONIC, 0, &none, 0));
    say("sleep by no clock", clock_nanosleep(4711, 0, &(struct timespec){0, 1}, 0));
    say("sleep by own time", clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &(struct timespec){0, 1}, 0));
}

int main(void) {
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&held);
    pthread_rwlock_wrlock(&lock);
    pthread_create(&thread, 0, other, 0);
    pthread_join(thread, 0);
    owner(0);
    sleep_badly();
    return 0;
}
