// The handler of a timer asks another thread and waits for its answer, in the midst of whatever its thread does: which
// is hardly anything but accesses to memory.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { QUESTIONS = 5 };

static int asks[2], answers[2];
static volatile sig_atomic_t asked;
static int table[64];
static int served;

static void ask(int number) {
    (void)number;
    char byte = 0;
    if (write(asks[1], &byte, 1) == 1 && read(answers[0], &byte, 1) == 1) asked++;
}

static void *serve(void *unused) {
    char byte;
    while (served < QUESTIONS && read(asks[0], &byte, 1) == 1) {
        served++;
        if (write(answers[1], &byte, 1) != 1) break;
    }
    return unused;
}

int main(void) {
    pthread_t server;
    sigset_t alarms;
    struct sigaction action = {0};
    struct itimerval soon = {{0, 0}, {0, 300}};
    if (pipe(asks) || pipe(answers)) return 1;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, 0);
    pthread_create(&server, 0, serve, 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
    action.sa_handler = ask;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, 0);
    for (int i = 0; i < QUESTIONS; i++) {
        setitimer(ITIMER_REAL, &soon, 0);
        for (int k = 0; asked <= i; k++) table[k % 64] += k;
    }
    pthread_join(server, 0);
    return served != QUESTIONS;
}
