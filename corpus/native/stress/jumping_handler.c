// Handlers jump out of whatever they have interrupted, hundreds of times: accesses, locks, waits, and accesses to no memory at all.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf away, fault;
static int numbers[64], sum, faults, under_lock;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, never = PTHREAD_MUTEX_INITIALIZER;

static void tick(int unused) {
    (void)unused;
    siglongjmp(away, 1);
}

static void no_memory(int unused) {
    (void)unused;
    siglongjmp(fault, 1);
}

static void *work(void *unused) {
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&lock);
        under_lock++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

// Jumps within itself only: what it has interrupted goes on.
static void harmless(int unused) {
    sigjmp_buf here;
    volatile int jumped = 0;
    (void)unused;
    if (sigsetjmp(here, 0) == 0) {
        jumped = 1;
        siglongjmp(here, 1);
    }
    sum += jumped;
}

static void every(int microseconds) {
    struct itimerval often = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &often, 0);
}

int main(void) {
    pthread_t threads[2];
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
    struct sigaction jump = {.sa_handler = tick}, segment = {.sa_handler = no_memory}, inner = {.sa_handler = harmless};
    sigaction(SIGSEGV, &segment, 0);
    for (volatile int i = 0; i < 20; i++)
        if (sigsetjmp(fault, 1) == 0)
            sum += *(volatile int *)8;
        else
            faults++;
    sigaction(SIGALRM, &jump, 0);
    for (volatile int jumps = 0; jumps < 200;) {
        if (sigsetjmp(away, 1) != 0) {
            jumps++;
            continue;
        }
        every(300);
        for (int i = 0;; i = (i + 1) % 64) numbers[i]++;
    }
    pthread_mutex_lock(&never);
    // It waits for what never comes, until it jumps.
    if (sigsetjmp(away, 1) == 0) {
        int ends[2];
        char byte;
        every(20000);
        if (pipe(ends) == 0) read(ends[0], &byte, 1);
    }
    every(0);
    sigaction(SIGALRM, &inner, 0);
    every(300);
    for (volatile int i = 0; i < 200000; i++) numbers[i % 64]++;
    every(0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return under_lock != 6000 || faults != 20;
}
