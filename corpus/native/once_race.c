// Something that is done once by whoever comes first, as told by a plain flag.
// race: 8 12
#include <pthread.h>

int done, seen;

static void *first(void *unused) {
    done = 1;
    return unused;
}
static void *second(void *unused) {
    if (!done)
        seen = 1;
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
