// Each thread has its own, but one knows that of the other.
// race: 8 16
#include <pthread.h>

_Thread_local int counter;

static void *work(void *theirs) {
    *(int *)theirs = 1;
    counter++;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, &counter);
    counter++;
    pthread_join(thread, 0);
    return 0;
}
