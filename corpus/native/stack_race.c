// A local variable that two threads know.
// race: 6 6
#include <pthread.h>

static void *work(void *counter) {
    ++*(int *)counter;
    return 0;
}

int main(void) {
    int counter = 0;
    pthread_t one, two;
    pthread_create(&one, 0, work, &counter);
    pthread_create(&two, 0, work, &counter);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
