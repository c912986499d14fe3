// Threads that are cancelled where they wait, that nobody joins, and a first thread that ends before the others.
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty, done;
static int cleaned;

static void unlock(void *unused) {
    (void)unused;
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void *wait_for_condition(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, 0);
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return unused;
}

static void *wait_for_permit(void *unused) {
    sem_wait(&empty);
    return unused;
}

static void *wait_for_time(void *unused) {
    sleep(1000);
    return unused;
}

static void *wait_for_input(void *file) {
    char byte;
    return read(*(int *)file, &byte, 1) == 1 ? 0 : file;
}

static void *detached(void *unused) {
    sem_post(&done);
    return unused;
}

static void *late(void *unused) {
    struct timespec moment = {0, 1000000};
    nanosleep(&moment, 0);
    pthread_mutex_lock(&lock);
    int good = cleaned == 1;
    pthread_mutex_unlock(&lock);
    _exit(good ? 0 : 1);
    return unused;
}

int main(void) {
    static int ends[2];
    pthread_t threads[4], other;
    void *(*const works[4])(void *) = {wait_for_condition, wait_for_permit, wait_for_time, wait_for_input};
    sem_init(&empty, 0, 0);
    sem_init(&done, 0, 0);
    if (pipe(ends)) return 2;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, works[i], &ends[0]);
    usleep(2000);
    for (int i = 0; i < 4; i++) {
        void *result = 0;
        pthread_cancel(threads[i]);
        pthread_join(threads[i], &result);
        if (result != PTHREAD_CANCELED) return 3;
    }
    pthread_create(&other, 0, detached, 0);
    pthread_detach(other);
    sem_wait(&done);
    pthread_mutex_lock(&lock);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += soon.tv_nsec < 990000000 ? 1000000 : 0;
    if (pthread_cond_timedwait(&never, &lock, &soon) == 0) return 4;
    pthread_mutex_unlock(&lock);
    pthread_create(&other, 0, late, 0);
    pthread_exit(0);
}
