// A child process ends before its threads have run, and so does its parent.
// race: 10 10
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;

static void *count(void *unused) {
    counter++;
    return unused;
}

int main(void) {
    pthread_t thread;
    pid_t child = fork();
    for (int i = 0; i < 2; i++) pthread_create(&thread, 0, count, 0);
    if (child == 0) _exit(0);
    while (waitpid(child, 0, 0) < 0) {}
    return 0;
}
