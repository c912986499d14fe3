// Copies of the process that are made past the C library's fork: what they do is theirs.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int count, plain;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char stack[1 << 16] __attribute__((aligned(64)));

static void work(void) {
    for (int i = 0; i < 100; i++) {
        __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
        pthread_mutex_lock(&mutex);
        plain++;
        pthread_mutex_unlock(&mutex);
    }
}

static void *thread(void *unused) {
    work();
    return unused;
}

static int cloned(void *added) {
    int before = plain;
    for (int i = 0; i < 100; i++)
        plain++;
    _exit(plain - before == 100 ? *(int *)added : 99);
}

static void await(int process) {
    int status = 0;
    while (waitpid(process, &status, 0) != process)
        ;
    printf("%d\n", WEXITSTATUS(status));
}

int main(void) {
    pthread_t other;
    int result = 7;
    pthread_create(&other, 0, thread, 0);
    for (int i = 0; i < 3; i++)
        await(clone(cloned, stack + sizeof stack, SIGCHLD, &result));
    int process = _Fork();
    if (process == 0)
        cloned(&(int){8});
    await(process);
    process = (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (process == 0)
        cloned(&(int){9});
    await(process);
    work();
    pthread_join(other, 0);
    printf("%d %d\n", count, plain);
    return 0;
}
