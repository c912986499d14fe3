// Kills a process that it has started, as tests of servers do, and ends well. With an argument it does not.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;

static void *count(void *unused) {
    counter++;
    return unused;
}

int main(int argc, char **argv) {
    int status, ready[2];
    char byte = 0;
    pthread_t thread;
    (void)argv;
    if (pipe(ready)) return 1;
    pid_t child = fork();
    if (child == 0) {
        counter = 5;
        if (write(ready[1], &byte, 1) != 1) _exit(1);
        for (;;)
            pause();
    }
    if (read(ready[0], &byte, 1) != 1) return 1;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    printf("killed by %d\n", WTERMSIG(status));
    pthread_create(&thread, 0, count, 0);
    pthread_join(thread, 0);
    return argc > 1;
}
