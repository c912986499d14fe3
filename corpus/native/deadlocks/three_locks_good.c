// Three threads take two locks each of three, all in the order of the table.
#include <pthread.h>

static pthread_mutex_t fork_of[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int meals[3];

static void *dine(void *seat) {
    long at = (long)seat;
    long next = (at + 1) % 3;
    pthread_mutex_lock(&fork_of[at < next ? at : next]);
    pthread_mutex_lock(&fork_of[at < next ? next : at]);
    meals[at]++;
    pthread_mutex_unlock(&fork_of[(at + 1) % 3]);
    pthread_mutex_unlock(&fork_of[at]);
    return 0;
}

int main(void) {
    pthread_t guests[3];
    for (long seat = 0; seat < 3; seat++) pthread_create(&guests[seat], 0, dine, (void *)seat);
    for (int seat = 0; seat < 3; seat++) pthread_join(guests[seat], 0);
    return 0;
}
