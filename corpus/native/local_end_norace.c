// Variables of functions that wait until others are done with them, and the same stack for the next ones.
#include <pthread.h>
#include <stdatomic.h>

struct job {
    int number;
    atomic_int is_done;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct job *next;
static int *number;
static int is_over;

static void with_flag(int round) {
    struct job job = {round, 0};
    pthread_mutex_lock(&mutex);
    next = &job;
    pthread_mutex_unlock(&mutex);
    while (!atomic_load_explicit(&job.is_done, memory_order_acquire)) {
    }
}
static void with_lock(int round) {
    int other = 0, variable = round;
    pthread_mutex_lock(&mutex);
    number = &variable;
    while (number) {
        pthread_cond_wait(&changed, &mutex);
    }
    other += variable;
    pthread_mutex_unlock(&mutex);
}

static void *work(void *unused) {
    for (int is_last = 0; !is_last;) {
        pthread_mutex_lock(&mutex);
        struct job *job = next;
        next = 0;
        if (number) {
            *number += 1;
            number = 0;
            pthread_cond_signal(&changed);
        }
        is_last = is_over;
        pthread_mutex_unlock(&mutex);
        if (job) {
            job->number++;
            atomic_store_explicit(&job->is_done, 1, memory_order_release);
        }
    }
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    for (int round = 0; round < 3; round++) {
        with_flag(round);
        with_lock(round);
    }
    pthread_mutex_lock(&mutex);
    is_over = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(worker, 0);
    return 0;
}
