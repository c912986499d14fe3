// The word is only written as a whole, so nobody finds half of it; that it is also looked at byte by byte, once all is over, does not change that.
// taken: 12 18
#include <pthread.h>

int x;
static union {
    unsigned short whole;
    unsigned char part[2];
} word;

static void *one(void *unused) {
    word.whole = 0x0101;
    x = 1;
    return unused;
}

static void *two(void *unused) {
    unsigned seen = word.whole;
    if (seen == 0x0100 || seen == 1)
        x = 2;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return word.part[0] == 77;
}
