// A new thread hears the signals that whoever made it hears, unless its attributes say otherwise.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static void *tell(void *name) {
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, 0, &set);
    printf("%s:", (const char *)name);
    for (int signal = 1; signal < 32; signal++)
        if (sigismember(&set, signal))
            printf(" %d", signal);
    puts("");
    return 0;
}

static void start(pthread_attr_t *how, char *name) {
    pthread_t thread;
    pthread_create(&thread, how, tell, name);
    pthread_join(thread, 0);
    tell("main");
}

int main(void) {
    sigset_t set;
    pthread_attr_t how;
    pthread_attr_init(&how);
    start(0, "none");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &set, 0);
    start(0, "inherited");
    start(&how, "inherited as well");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_attr_setsigmask_np(&how, &set);
    start(&how, "another");
    sigfillset(&set);
    pthread_attr_setsigmask_np(&how, &set);
    start(&how, "all");
    sigemptyset(&set);
    pthread_attr_setsigmask_np(&how, &set);
    start(&how, "no signal");
    pthread_attr_setsigmask_np(&how, 0);
    start(&how, "inherited again");
    return 0;
}
