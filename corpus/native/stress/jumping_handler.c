// Handlers jump out of whatever they have interrupted, many times: accesses, locks, waits, and accesses to no memory at all.
// First in the main thread, then in another one; on the stack of the thread, and on one of their own.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf away, fault;
static int numbers[64], sum, faults, under_lock, finished;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;

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

// There is none at this address.
static void access_no_memory(void) {
    numbers[0]++;
    if (sigsetjmp(fault, 1) == 0)
        sum += *(volatile int *)8;
}

// Jumps within itself only, and so does the handler that interrupts it: what it has interrupted goes on.
static void harmless(int unused) {
    sigjmp_buf here;
    volatile int jumped = 0;
    (void)unused;
    if (sigsetjmp(here, 0) == 0) {
        jumped = 1;
        siglongjmp(here, 1);
    }
    access_no_memory();
    sum += jumped;
}

static void alarm_after(int microseconds, int again) {
    struct itimerval time = {{0, again}, {0, microseconds}};
    setitimer(ITIMER_REAL, &time, 0);
}

static void handle(int signal, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(signal, &action, 0);
}

static void jump_often(int flags) {
    handle(SIGSEGV, no_memory, flags);
    for (volatile int i = 0; i < 20; i++) {
        access_no_memory();
        faults++;
    }
    handle(SIGALRM, tick, flags);
    for (volatile int jumps = 0; jumps < 25;) {
        if (sigsetjmp(away, 1) != 0) {
            jumps++;
            continue;
        }
        alarm_after(20 + jumps, 0);
        for (int i = 0;; i = (i + 1) % 64) numbers[i]++;
    }
    pthread_mutex_lock(&held);
    // It waits for what never comes, until it jumps.
    if (sigsetjmp(away, 1) == 0) {
        int ends[2];
        char byte;
        alarm_after(20000, 20000);
        if (pipe(ends) == 0) read(ends[0], &byte, 1);
    }
    alarm_after(0, 0);
    pthread_mutex_unlock(&held);
    handle(SIGALRM, harmless, flags);
    alarm_after(100, 100);
    for (volatile int i = 0; i < 20000; i++) numbers[i % 64]++;
    alarm_after(0, 0);
    finished++;
}

// Alarms come to the thread that runs this.
static void *jump_on_both_stacks(void *alarms) {
    static char room[1 << 16];
    stack_t own = {.ss_sp = room, .ss_size = sizeof room}, none = {.ss_flags = SS_DISABLE};
    pthread_sigmask(SIG_UNBLOCK, alarms, 0);
    jump_often(0);
    sigaltstack(&own, 0);
    jump_often(SA_ONSTACK);
    sigaltstack(&none, 0);
    pthread_sigmask(SIG_BLOCK, alarms, 0);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    jump_on_both_stacks(&alarms);
    pthread_create(&threads[2], 0, jump_on_both_stacks, &alarms);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return under_lock != 6000 || faults != 80 || finished != 4;
}
