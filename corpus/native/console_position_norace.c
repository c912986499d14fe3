// How much was printed tells a thread that another one has printed.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static int data;
static void *print(void *unused) {
    (void)unused;
    data = 1;
    fputs("x", stderr);
    return NULL;
}
static void *ask(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) {
        if (ftell(stderr) > 0) {
            data++;
            break;
        }
        sched_yield();
    }
    return NULL;
}
int main(void) {
    pthread_t printing, asking;
    // Where standard error cannot be asked for its position, there is nothing to see.
    if (freopen("/dev/null", "w", stderr) == NULL) return 0;
    pthread_create(&printing, NULL, print, NULL);
    pthread_create(&asking, NULL, ask, NULL);
    pthread_join(printing, NULL);
    pthread_join(asking, NULL);
}
