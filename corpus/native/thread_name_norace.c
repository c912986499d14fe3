// A thread waits until another has given it a name, and finds what was done before that.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <string.h>

static int data;

static void *work(void *unused) {
    char name[16];
    do {
        sched_yield();
        pthread_getname_np(pthread_self(), name, sizeof name);
    } while (strcmp(name, "go") != 0);
    data++;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    data = 1;
    pthread_setname_np(thread, "go");
    pthread_join(thread, NULL);
    return data != 2;
}
