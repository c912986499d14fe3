// `main` returns before its threads have run, and nobody joins them.
// race: 8 8
#include <pthread.h>

int counter;

static void *count(void *other) {
    counter++;
    *(int *)other = 1;
    return 0;
}

int main(void) {
    static int one, another;
    pthread_t thread;
    pthread_create(&thread, 0, count, &one);
    pthread_create(&thread, 0, count, &another);
    return 0;
}
