// A handler that is called two thousand times a second writes what the threads read.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

// It may run on either thread, while the other one reads.
static atomic_int ticks;
static int under_lock;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void tick(int unused) {
    (void)unused;
    ticks++;
}

static void *work(void *unused) {
    for (int i = 0; i < 3000 || (ticks < 20 && i < 3000000); i++) {
        pthread_mutex_lock(&lock);
        under_lock += ticks >= 0;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, 0);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    setitimer(ITIMER_REAL, &never, 0);
    return under_lock < 6000;
}
