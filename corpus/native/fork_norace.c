// The child process has a copy of everything.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int counter;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pid_t child = fork();
    if (child == 0) {
        counter = 100;
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    pthread_join(thread, 0);
    return counter - 1 + status;
}
