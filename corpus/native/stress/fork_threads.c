// A copy of the process with one thread goes on, holds a lock from before, and makes a thread of its own.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *count(void *times) {
    for (long i = 0; i < (long)times; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, count, (void *)50);
    pthread_mutex_lock(&lock);
    pid_t child = fork();
    shared++;
    pthread_mutex_unlock(&lock);
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, 0, count, (void *)7);
        count((void *)5);
        pthread_join(thread, 0);
        return 0;
    }
    int status = 1;
    waitpid(child, &status, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return status != 0 || shared != 101;
}
