// A copy of sixteen bytes and a write of one of them.
// race: 9 13
#include <pthread.h>
#include <string.h>

char text[16], copied[16];

static void *first(void *unused) {
    memcpy(copied, text, sizeof text);
    return unused;
}
static void *second(void *unused) {
    text[11] = 'x';
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
