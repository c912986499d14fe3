// Handlers that are installed for one signal only: by the time they come, the kernel has forgotten them.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <time.h>

static volatile int seen, last;
static int numbers[4096], under_lock;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t first;

static void once_more(int number) {
    signal(number, once_more);
    pthread_mutex_lock(&lock);
    seen++;
    under_lock++;
    pthread_mutex_unlock(&lock);
}

static void just_once(int number, siginfo_t *about, void *unused) {
    (void)unused;
    last = about->si_signo == number;
}

static void *send(void *unused) {
    struct timespec pause = {0, 1000000};
    for (int i = 0; i < 20; i++) {
        pthread_kill(first, SIGUSR1);
        pthread_mutex_lock(&lock);
        under_lock++;
        pthread_mutex_unlock(&lock);
        nanosleep(&pause, 0);
    }
    pthread_kill(first, SIGUSR2);
    return unused;
}

int main(void) {
    pthread_t sender;
    struct sigaction action = {.sa_sigaction = just_once, .sa_flags = SA_SIGINFO | SA_RESETHAND}, now;
    first = pthread_self();
    signal(SIGUSR1, once_more);
    sigaction(SIGUSR2, &action, 0);
    pthread_create(&sender, 0, send, 0);
    for (int i = 0; i < 200000 && !last; i++) numbers[i % 4096]++;
    pthread_join(sender, 0);
    while (!last) nanosleep(&(struct timespec){0, 1000000}, 0);
    sigaction(SIGUSR2, 0, &now);
    return !seen || under_lock != seen + 20 || now.sa_handler != SIG_DFL;
}
