// A struct is copied while one of its members changes.
// race: 10 14
#include <pthread.h>

struct point {
    long x, y, z;
} here, there;

static void *first(void *unused) {
    there = here;
    return unused;
}
static void *second(void *unused) {
    here.y = 1;
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
