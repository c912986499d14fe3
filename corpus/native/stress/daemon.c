// Becomes a daemon in the way that is asked for: what it does then is done in the background.
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int counter;

static void *work(void *unused) {
    counter++;
    return unused;
}

static void become_one_by_hand(void) {
    if (fork() != 0)
        exit(0);
    setsid();
    if (fork() != 0)
        _exit(0);
    umask(0);
    if (chdir("/") != 0)
        abort();
    for (int file = 0; file < 1200; file++)
        close(file);
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "library") == 0) {
        if (daemon(0, 0) != 0)
            return 1;
    } else {
        become_one_by_hand();
    }
    // Nobody waits for it by now.
    for (int i = 0; i < 3; i++)
        usleep(100000);
    if (count > 2)
        for (;;)
            pause();
    pthread_t one, two;
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
