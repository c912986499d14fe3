// A process ends while it holds a lock that two processes share; whoever waits for it is told.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
    pthread_mutex_t mutex;
    int is_held;
    int data;
} *shared;

static void *work(void *unused) {
    int found = pthread_mutex_lock(&shared->mutex);
    shared->data++;
    if (found == EOWNERDEAD) pthread_mutex_consistent(&shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    return found == EOWNERDEAD ? &shared->data : unused;
}

int main(void) {
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &robust);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&shared->mutex);
        shared->is_held = 1;
        usleep(100000);
        abort();
    }
    while (!*(volatile int *)&shared->is_held) usleep(1000);
    pthread_t threads[2];
    void *told[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &told[i]);
    waitpid(child, 0, 0);
    return shared->data != 2 || !told[0] == !told[1];
}
