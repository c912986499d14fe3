// An atomic access and a plain one.
// race: 8 12
#include <pthread.h>

int counter;

static void *first(void *unused) {
    __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
    return unused;
}
static void *second(void *unused) {
    counter++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
