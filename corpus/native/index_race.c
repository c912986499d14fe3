// Elements of one array by a fixed index.
// race: 8 12
#include <pthread.h>

int a[4];

static void *first(void *unused) {
    a[2] = 1;
    return unused;
}
static void *second(void *unused) {
    a[2] = 2;
    a[3] = 2;
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
