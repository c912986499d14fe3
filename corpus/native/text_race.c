// A text is measured while another writes into it.
// race: 10 14
#include <pthread.h>
#include <string.h>

char text[32] = "abcdefghijklmnop";
unsigned long length;

static void *first(void *unused) {
    text[12] = '-';
    return unused;
}
static void *second(void *unused) {
    length = strlen(text);
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
