// A word and a part of it.
// race: 12 16
#include <pthread.h>

union {
    long whole;
    short parts[4];
} word;
int sum;

static void *first(void *unused) {
    word.whole = 0x0123456789abcdef;
    return unused;
}
static void *second(void *unused) {
    sum = word.parts[3];
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
