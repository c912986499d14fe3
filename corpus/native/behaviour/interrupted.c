// Calls that wait and that the handler of a signal ends, or does not end, as it was installed.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static sem_t never, posted;
static volatile sig_atomic_t ticks;
static _Atomic int quit;

static void tick(int signal) {
    (void)signal;
    if (++ticks == 3)
        sem_post(&posted);
}

static void tick_once(int number) {
    (void)number;
    signal(SIGALRM, SIG_IGN);
}

// The signal comes again and again: one that comes just before a wait ends none.
static void install(void (*handler)(int), int flags) {
    struct sigaction action = {0};
    struct itimerval often = {{0, 20000}, {0, 20000}};
    action.sa_handler = handler;
    action.sa_flags = flags;
    ticks = 0;
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &often, 0);
}

static void show(const char *what, int result) {
    int error = errno;
    struct itimerval stop = {0};
    setitimer(ITIMER_REAL, &stop, 0);
    printf("%s: %d%s\n", what, result, result < 0 && error == EINTR ? ", interrupted" : "");
}

static void waits(const char *who) {
    struct timespec late = {time(0) + 1000, 0}, minute = {60, 0}, rest = {0};
    puts(who);
    install(tick, 0);
    show("sem_wait", sem_wait(&never));
    install(tick, SA_RESTART);
    show("sem_wait that goes on", sem_wait(&posted));
    install(tick, SA_RESTART);
    show("sem_timedwait", sem_timedwait(&never, &late));
    install(tick, SA_RESTART);
    show("sleep", sleep(60) > 30);
    install(tick, SA_RESTART);
    show("usleep", usleep(900000000));
    install(tick, SA_RESTART);
    show("nanosleep", nanosleep(&minute, &rest));
    show("its rest", rest.tv_sec > 30);
    install(tick, SA_RESTART);
    show("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &minute, &rest) == EINTR);
    install(tick_once, 0);
    show("sem_wait, and no handler any more", sem_wait(&never));
}

static void *busy(void *unused) {
    while (!quit)
        usleep(1000);
    return unused;
}

int main(void) {
    pthread_t thread;
    sigset_t alarms;
    sem_init(&never, 0, 0);
    sem_init(&posted, 0, 0);
    waits("alone");
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, 0);
    pthread_create(&thread, 0, busy, 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
    waits("beside another thread");
    quit = 1;
    pthread_join(thread, 0);
    return 0;
}
