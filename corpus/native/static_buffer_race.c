// race: 9 9
// Two threads get the same buffer of the C library.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static void *ask(void *seconds) {
    time_t time = *(time_t *)seconds;
    struct tm *parts = gmtime(&time);
    return parts;
}

int main(void) {
    pthread_t threads[2];
    time_t times[2] = {0, 1000000000};
    // The first call reads the time zone.
    gmtime(&times[0]);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, ask, &times[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
