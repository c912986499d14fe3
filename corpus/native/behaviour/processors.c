// Where threads may run, and what they start: the same as without a recorder, which keeps threads together while they take turns.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int turns;
static pid_t other;

static int allowed(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

/// Threads meet, so that they are where a recorder wants them.
static void meet(void) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        turns++;
        pthread_mutex_unlock(&lock);
        sched_yield();
    }
    pthread_barrier_wait(&both);
}

static void ask(const char *who) {
    cpu_set_t set;
    pthread_getaffinity_np(pthread_self(), sizeof set, &set);
    printf("%s %d %d", who, allowed(), CPU_COUNT(&set));
    CPU_ZERO(&set);
    syscall(SYS_sched_getaffinity, 0, sizeof set, &set);
    printf(" %d %d %ld\n", CPU_COUNT(&set), get_nprocs(), sysconf(_SC_NPROCESSORS_ONLN));
}

static void start_others(void) {
    meet();
    if (system("nproc") != 0)
        puts("no shell");
    meet();
    char text[16] = "";
    FILE *pipe = popen("nproc", "r");
    printf("through a pipe %s", fgets(text, sizeof text, pipe));
    pclose(pipe);
    meet();
    pid_t child;
    char *arguments[] = {"nproc", NULL};
    posix_spawnp(&child, "nproc", NULL, NULL, arguments, environ);
    waitpid(child, NULL, 0);
    meet();
    if ((child = vfork()) == 0) {
        execvp("nproc", arguments);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    meet();
    if ((child = fork()) == 0) {
        printf("copy %d\n", allowed());
            _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void *work(void *unused) {
    other = gettid();
    meet();
    pthread_barrier_wait(&both);
    for (int i = 0; i < 6; i++)
        meet();
    // The first thread has said where this one runs.
    meet();
    printf("told %d\n", allowed());
    meet();
    return unused;
}

int main(void) {
    // Others print there, too.
    setvbuf(stdout, NULL, _IONBF, 0);
    ask("alone");
    pthread_barrier_init(&both, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    meet();
    ask("with another");
    cpu_set_t set;
    sched_getaffinity(other, sizeof set, &set);
    printf("another %d\n", CPU_COUNT(&set));
    pthread_barrier_wait(&both);
    start_others();
    meet();
    int first = 0;
    while (!CPU_ISSET(first, &set))
        first++;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    pthread_setaffinity_np(thread, sizeof set, &set);
    meet();
    meet();
    printf("telling %d\n", allowed());
    pthread_join(thread, NULL);
    return 0;
}
