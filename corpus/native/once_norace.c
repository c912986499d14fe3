// Initialised once, used by all.
#include <pthread.h>

int data, seen[2];
pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void) { data = 7; }

static void *use(void *which) {
    pthread_once(&once, prepare);
    seen[(long)which] = data;
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, use, (void *)0);
    pthread_create(&two, 0, use, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
