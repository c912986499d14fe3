// A pool of workers that take jobs from a stack, and a manager who hires and reports.
// hidden: 77 90
// hidden: 80 90
// race: 63 63
#include <pthread.h>

enum { JOBS = 9, WORKERS = 2 };

struct job {
    int weight;
    struct job *next;
};

static struct job jobs[JOBS];
static struct job *top;
static pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t result_lock = PTHREAD_MUTEX_INITIALIZER;
static long result;
static int finished;
static int quota;   // set by the manager when the jobs are there
static int started; // set by each worker when it begins; nothing guards it
static long report;

static void push(struct job *job) {
    pthread_mutex_lock(&stack_lock);
    job->next = top;
    top = job;
    pthread_mutex_unlock(&stack_lock);
}

static struct job *pop(void) {
    pthread_mutex_lock(&stack_lock);
    struct job *job = top;
    if (job)
        top = job->next;
    pthread_mutex_unlock(&stack_lock);
    return job;
}

static void add_result(long value) {
    pthread_mutex_lock(&result_lock);
    result += value;
    finished++;
    pthread_mutex_unlock(&result_lock);
}

static void hire(void) {
    quota = 3;
    for (int i = 0; i < JOBS; i++) {
        jobs[i].weight = i;
        push(&jobs[i]);
    }
}

static void warm_up(pthread_mutex_t *own) {
    for (int i = 0; i < 25; i++) {
        pthread_mutex_lock(own);
        pthread_mutex_unlock(own);
    }
}

static void *worker(void *own) {
    started = 1;
    warm_up(own);
    struct job *job = pop();
    for (int done = 0; job && done < quota; done++) {
        add_result(job->weight);
        job = pop();
    }
    return 0;
}

static void *manager(void *unused) {
    hire();
    for (int patience = 0; patience < 10; patience++) {
        pthread_mutex_lock(&result_lock);
        report = finished;
        pthread_mutex_unlock(&result_lock);
    }
    report = 1;
    add_result(0);
    return unused;
}

static void *accountant(void *unused) {
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    warm_up(&own);
    warm_up(&own);
    add_result(0);
    if (report > 0)
        warm_up(&own);
    return unused;
}

int main(void) {
    pthread_t threads[WORKERS + 2];
    pthread_mutex_t own[WORKERS];
    pthread_create(&threads[WORKERS], 0, manager, 0);
    pthread_create(&threads[WORKERS + 1], 0, accountant, 0);
    for (int i = 0; i < WORKERS; i++) {
        pthread_mutex_init(&own[i], 0);
        pthread_create(&threads[i], 0, worker, &own[i]);
    }
    for (int i = 0; i < WORKERS + 2; i++)
        pthread_join(threads[i], 0);
    return started != 1;
}
