// Never ends by itself.
#include <pthread.h>

static int shared;

static void *count(void *unused) {
    for (;;) shared++;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
    for (;;) shared--;
}
