// Bytes are moved by one while another writes in between.
// race: 9 13
#include <pthread.h>
#include <string.h>

char text[32] = "abcdefghijklmnopqrstuvwxyz";

static void *first(void *unused) {
    memmove(text + 2, text, 20);
    return unused;
}
static void *second(void *unused) {
    text[9] = '-';
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
