// Starts programs in all ways. `true` is not instrumented; the program itself, as it is started again, is.
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int counter;

static void *count(void *unused) {
    counter++;
    return unused;
}

int main(int argc, char **argv) {
    pthread_t other;
    pthread_create(&other, 0, count, 0);
    pthread_join(other, 0);
    if (argc > 1) {
        return 0;
    }
    char *again[] = {argv[0], "again", 0}, *plain[] = {"/bin/true", 0}, *echo[] = {"/bin/echo", 0};
    pid_t spawned[2], copy, gone;
    if (posix_spawn(&spawned[0], argv[0], 0, 0, again, environ) || posix_spawn(&spawned[1], plain[0], 0, 0, plain, environ)) {
        return 1;
    }
    if ((copy = fork()) == 0) {
        execv("/nowhere/to/be/found", plain);
        execv(echo[0], echo);
        _exit(1);
    }
    if ((gone = vfork()) == 0) {
        execv(argv[0], again);
        _exit(1);
    }
    if (system("exit 0 # a shell")) {
        return 1;
    }
    while (wait(0) > 0) {
    }
    return 0;
}
