// Threads are cancelled where they wait: for a condition, for a semaphore, in their sleep. What they clean up is ordered by joining them.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static int guarded, cleaned[3];

static void unlock(void *unused) {
    (void)unused;
    guarded++;
    pthread_mutex_unlock(&mutex);
}

static void clean(void *which) {
    ++*(int *)which;
}

static void *wait_for_condition(void *which) {
    pthread_cleanup_push(clean, which);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, 0);
    for (;;) pthread_cond_wait(&never, &mutex);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return 0;
}

static void *wait_for_semaphore(void *which) {
    pthread_cleanup_push(clean, which);
    sem_wait(&empty);
    pthread_cleanup_pop(1);
    return 0;
}

static void *sleep_long(void *which) {
    pthread_cleanup_push(clean, which);
    sleep(1000);
    pthread_cleanup_pop(1);
    return 0;
}

int main(void) {
    void *(*functions[3])(void *) = {wait_for_condition, wait_for_semaphore, sleep_long};
    pthread_t threads[3];
    int sum = 0;
    sem_init(&empty, 0, 0);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, functions[i], &cleaned[i]);
    usleep(1000);
    for (int i = 0; i < 3; i++) pthread_cancel(threads[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    pthread_mutex_lock(&mutex);
    guarded++;
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 3; i++) sum += cleaned[i];
    return sum > 3;
}
