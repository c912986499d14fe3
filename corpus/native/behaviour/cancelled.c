// Threads are cancelled where and when they allow it: at once in a loop or at a lock, later if they forbid it, and also where they need not wait.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t ready, never, always;
static volatile int count;

static void clean(void *name) { printf("%s is cleaned up\n", (const char *)name); }

static void *loops(void *unused) {
    pthread_cleanup_push(clean, "loop");
    int before;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    printf("it was %s\n", before == PTHREAD_CANCEL_DEFERRED ? "deferred" : "asynchronous");
    sem_post(&ready);
    for (;;)
        count++;
    pthread_cleanup_pop(0);
    return unused;
}

static void *locks(void *unused) {
    pthread_cleanup_push(clean, "lock");
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    sem_post(&ready);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_pop(0);
    return unused;
}

static void *blocks(void *unused) {
    pthread_cleanup_push(clean, "call");
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    sem_post(&ready);
    syscall(SYS_ppoll, 0, 0, 0, 0);
    pthread_cleanup_pop(0);
    return unused;
}

static void *forbids(void *unused) {
    int before;
    pthread_cleanup_push(clean, "later");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    sem_post(&ready);
    sem_wait(&always);
    usleep(1000);
    puts("still here");
    pthread_setcancelstate(before, 0);
    sem_wait(&never);
    pthread_cleanup_pop(0);
    return unused;
}

static void *need_not_wait(void *unused) {
    pthread_cleanup_push(clean, "permit");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    sem_post(&ready);
    sem_wait(&always);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0);
    sem_wait(&always);
    puts("not cancelled");
    pthread_cleanup_pop(0);
    return unused;
}

// Makes no step that is recorded: it is cancelled within the C library.
static void *prints(void *unused) {
    FILE *nowhere = fopen("/dev/null", "w");
    pthread_cleanup_push(clean, "prints");
    sem_post(&ready);
    for (;;)
        fwrite("foo", 3, 1, nowhere);
    pthread_cleanup_pop(0);
    return unused;
}

static void *cancels_itself(void *unused) {
    pthread_cleanup_push(clean, "self");
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    pthread_cancel(pthread_self());
    puts("not cancelled");
    pthread_cleanup_pop(0);
    return unused;
}

static void cancel(void *(*work)(void *), int permits) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, work, 0);
    if (work != cancels_itself) {
        sem_wait(&ready);
        usleep(work == prints ? 10000 : 0);
        pthread_cancel(thread);
    }
    for (int i = 0; i < permits; i++)
        sem_post(&always);
    pthread_join(thread, &result);
    puts(result == PTHREAD_CANCELED ? "cancelled" : "ended");
}

int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    sem_init(&always, 0, 0);
    pthread_mutex_lock(&mutex);
    cancel(loops, 0);
    cancel(locks, 0);
    cancel(blocks, 0);
    cancel(forbids, 1);
    cancel(need_not_wait, 2);
    cancel(cancels_itself, 0);
    cancel(prints, 0);
    return 0;
}
