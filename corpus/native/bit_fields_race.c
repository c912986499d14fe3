// Neighbouring bit-fields are one memory location.
// race: 10 14
#include <pthread.h>

struct {
    unsigned one : 4, two : 4;
} flags;

static void *first(void *unused) {
    flags.one = 1;
    return unused;
}
static void *second(void *unused) {
    flags.two = 2;
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
