// Becomes another program: both are recorded, each in a log of its own.
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int shared;

static void *count(void *unused) {
    shared++;
    return unused;
}

int main(int arguments, char **words) {
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
    pthread_join(thread, 0);
    if (arguments > 1) return strcmp(words[1], "again") != 0 || shared != 1;
    char *again[] = {words[0], "again", 0};
    execv("/proc/self/exe", again);
    return 3;
}
