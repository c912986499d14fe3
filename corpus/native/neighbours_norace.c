// Two threads write neighbouring bytes of one word; the whole word is read after both have ended.
#include <pthread.h>
#include <string.h>

struct { char a, b; short c; int d; } pair;

static void *first(void *unused) {
    pair.a = 1;
    pair.c = 2;
    return unused;
}
static void *second(void *unused) {
    pair.b = 3;
    pair.d = 4;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    long all;
    memcpy(&all, &pair, sizeof all);
    return all != 0 ? 0 : 1;
}
