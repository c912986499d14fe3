// Two threads race at once, and then have much to do that nobody else sees: as many rounds as the first argument says.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int racy;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds, shared;

static void *work(void *unused) {
    racy++;
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 1000;
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf("all of %ld rounds were made\n", shared);
    return 0;
}
