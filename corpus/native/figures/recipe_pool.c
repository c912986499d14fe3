// The pattern of Figure 6 of the RECIPE paper, where all ways were gone: how many threads are alive is read under one lock and raised
// under another. The second thread found one entry left, and finds two if it comes first; either way it starts a child. So that may look
// while the first thread raises the number. The second thread sleeps, so that the first one is done in the recorded run.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { TOTAL = 5 };

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER, starting = PTHREAD_MUTEX_INITIALIZER;
static int alive = 3;

static int available(void) {
    pthread_mutex_lock(&counting);
    int entries = TOTAL - alive; // asked
    pthread_mutex_unlock(&counting);
    return entries;
}

// Sleeps longer than the second thread: the stack of a thread that has ended may be that of the next one, which orders the two.
static void *child(void *unused) {
    usleep(50000);
    pthread_mutex_lock(&counting);
    printf("%d\n", alive); // looked
    pthread_mutex_unlock(&counting);
    return unused;
}

static void *first(void *unused) {
    pthread_t started;
    if (available() < 1)
        return unused;
    pthread_mutex_lock(&starting);
    alive++; // raised by the first
    pthread_mutex_unlock(&starting);
    pthread_create(&started, 0, child, 0);
    pthread_join(started, 0);
    return unused;
}

static void *second(void *unused) {
    pthread_t started;
    usleep(1000);
    if (available() < 1)
        return unused;
    pthread_mutex_lock(&starting);
    alive++; // raised by the second
    pthread_mutex_unlock(&starting);
    pthread_create(&started, 0, child, 0);
    pthread_join(started, 0);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
