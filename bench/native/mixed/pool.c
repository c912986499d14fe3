// Workers take jobs from a queue. What was done is counted under the lock of the queue; who does what, and how far it is, is told without.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 3, MOST = 1 << 16 };

static int jobs;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int jobs[MOST];
    int first, last, closed;
    int done, total;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static int busy[WORKERS];      // for a monitor that looks in now and then
static int current;            // the job that somebody works on
static int verbose;            // may be switched at any time
static int last_result;

static int work(int job) {
    int result = job;
    for (int i = 0; i < job % 5; i++) result = result * 7 % 1001;
    return result;
}

static void finish(int result) {
    pthread_mutex_lock(&queue.lock);
    queue.done++;
    queue.total += result;
    pthread_mutex_unlock(&queue.lock);
}

static void *worker(void *argument) {
    int self = *(int *)argument;
    for (;;) {
        pthread_mutex_lock(&queue.lock);
        while (queue.first == queue.last && !queue.closed) pthread_cond_wait(&queue.more, &queue.lock);
        if (queue.first == queue.last) {
            pthread_mutex_unlock(&queue.lock);
            return NULL;
        }
        int job = queue.jobs[queue.first++];
        pthread_mutex_unlock(&queue.lock);
        busy[self] = 1;
        current = job;
        int result = work(job);
        last_result = result;
        finish(result);
        busy[self] = 0;
    }
}

static void *monitor(void *unused) {
    int seen = 0;
    for (int look = 0; look < 6; look++) {
        for (int i = 0; i < WORKERS; i++) seen += busy[i];
        pthread_mutex_lock(&queue.lock);
        int left = jobs - queue.done;
        pthread_mutex_unlock(&queue.lock);
        if (verbose) printf("%d left, %d seen, job %d\n", left, seen, current);
        verbose = left > jobs;
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t workers[WORKERS], watcher;
    int numbers[WORKERS];
    jobs = argc > 1 ? atoi(argv[1]) : 4;
    if (jobs > MOST) jobs = MOST;
    pthread_create(&watcher, NULL, monitor, NULL);
    for (int i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        pthread_create(&workers[i], NULL, worker, &numbers[i]);
    }
    for (int job = 0; job < jobs; job++) {
        pthread_mutex_lock(&queue.lock);
        queue.jobs[queue.last++] = job;
        pthread_cond_signal(&queue.more);
        pthread_mutex_unlock(&queue.lock);
    }
    verbose = 0;
    pthread_mutex_lock(&queue.lock);
    queue.closed = 1;
    pthread_cond_broadcast(&queue.more);
    pthread_mutex_unlock(&queue.lock);
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
    pthread_join(watcher, NULL);
    printf("%d jobs, %d\n", queue.done, queue.total);
    return 0;
}
