// Threads take turns with the buffer of the C library, or have one of their own.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int years[2];

static void *ask(void *seconds) {
    time_t time = *(time_t *)seconds;
    pthread_mutex_lock(&lock);
    int year = gmtime(&time)->tm_year;
    pthread_mutex_unlock(&lock);
    struct tm own;
    gmtime_r(&time, &own);
    years[time == 0] = year == own.tm_year ? year : -1;
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    time_t times[2] = {0, 1000000000};
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, ask, &times[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return years[1] != 70 || years[0] != 101;
}
