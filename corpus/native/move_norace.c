// Two copies that touch each other at the edge.
#include <pthread.h>
#include <string.h>

char text[32];

static void *first(void *unused) {
    memset(text, 'a', 13);
    return unused;
}
static void *second(void *unused) {
    memset(text + 13, 'b', 19);
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
