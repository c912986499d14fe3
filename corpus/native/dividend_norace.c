// What the second thread reads under the lock decides whether a division is possible: of the smallest number by -1 it is not, and then
// the thread never comes to the write that would race.
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int minus_one = -1;
static int ready, quotient, shared;

static void give_up(int unused) {
    _exit(unused & 0);
}

static void *first(void *unused) {
    shared = 1;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *second(void *unused) {
    int divisor = minus_one;
    pthread_mutex_lock(&lock);
    int dividend = INT_MIN + ready;
    pthread_mutex_unlock(&lock);
    quotient = dividend / divisor;
    shared = 2;
    return unused;
}

int main(void) {
    pthread_t one, two;
    signal(SIGFPE, give_up);
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
