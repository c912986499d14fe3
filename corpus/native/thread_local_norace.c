// Each thread has its own.
#include <pthread.h>

_Thread_local int counter;

static void *work(void *unused) {
    for (int i = 0; i < 3; i++)
        counter++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
