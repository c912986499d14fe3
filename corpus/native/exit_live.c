// Ends in the way that it is told, with the exit code 7, while threads are alive that never end, each in its own way.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile long steps;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *compute(void *unused) {
    for (;;) steps++;
    return unused;
}

static void *nap(void *unused) {
    for (;;) usleep(1000);
    return unused;
}

static void *sleep_long(void *unused) {
    sleep(1000);
    return unused;
}

static void *read_nothing(void *unused) {
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) < 0) abort();
    return unused;
}

static void *wait_for_ever(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_wait(&never, &mutex);
    return unused;
}

static void *leave(void *unused) {
    exit(7);
    return unused;
}

int main(int count, char **arguments) {
    void *(*functions[])(void *) = {compute, nap, sleep_long, read_nothing, wait_for_ever};
    const char *how = count > 1 ? arguments[1] : "return";
    pthread_t thread;
    for (int i = 0; i < 5; i++) pthread_create(&thread, 0, functions[i], 0);
    puts("the end");
    fflush(stdout);
    if (!strcmp(how, "exit")) exit(7);
    if (!strcmp(how, "_exit")) _exit(7);
    if (!strcmp(how, "quick_exit")) quick_exit(7);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "worker")) {
        pthread_create(&thread, 0, leave, 0);
        pthread_exit(0);
    }
    return 7;
}
