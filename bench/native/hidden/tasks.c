// A scheduler of tasks: a clock thread makes tasks ready, a runner takes them from the run queue, a tracer watches both.
// hidden: 44 68
// hidden: 53 82
// hidden: 77 90
#include <pthread.h>

enum { TASKS = 10 };

static pthread_spinlock_t clock_lock;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;
static int now, queue[TASKS], length, traced;
static int time_slice;   // chosen by the clock
static int current_task; // of the runner
static int trace_mask;   // of the tracer

static void tick(void) {
    pthread_spin_lock(&clock_lock);
    now++;
    pthread_spin_unlock(&clock_lock);
}

static void make_ready(int task) {
    pthread_mutex_lock(&queue_lock);
    if (length < TASKS)
        queue[length++] = task;
    pthread_mutex_unlock(&queue_lock);
}

static int take_ready(void) {
    pthread_mutex_lock(&queue_lock);
    int task = length > 0 ? queue[--length] : -1;
    pthread_mutex_unlock(&queue_lock);
    return task;
}

static void trace(int event) {
    pthread_mutex_lock(&trace_lock);
    traced += event;
    pthread_mutex_unlock(&trace_lock);
}

static void *clock_thread(void *unused) {
    time_slice = 4;
    for (int task = 0; task < TASKS; task++) {
        make_ready(task);
        tick();
    }
    return unused;
}

static void run(int task) {
    current_task = task;
    trace(1);
}

static void boot(int devices) {
    static pthread_mutex_t bus_lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < devices; i++) {
        pthread_mutex_lock(&bus_lock);
        pthread_mutex_unlock(&bus_lock);
    }
}

static void *runner(void *unused) {
    boot(22);
    int task = take_ready();
    for (int slice = time_slice; slice > 0 && task >= 0; slice--) {
        run(task);
        task = take_ready();
    }
    run(TASKS);
    return unused;
}

static void *tracer(void *unused) {
    trace_mask = 1;
    trace(0);
    for (int i = 0; i < 60; i++)
        tick();
    trace(2);
    if (current_task == TASKS)
        trace(3);
    return unused;
}

static void *profiler(void *unused) {
    boot(35);
    trace(4);
    if (trace_mask)
        tick();
    return unused;
}

int main(void) {
    pthread_t threads[4];
    void *(*all[4])(void *) = {clock_thread, tracer, runner, profiler};
    pthread_spin_init(&clock_lock, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, all[i], 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return traced < 0;
}
