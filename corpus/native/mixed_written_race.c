// A word is written atomically as a whole, and a part of it is written plainly.
// race: 13 17
#include <pthread.h>
#include <stdint.h>

static union {
    uint64_t whole;
    uint16_t parts[4];
} word;

static void *write_whole(void *unused) {
    for (uint64_t i = 0; i < 3; i++)
        __atomic_store_n(&word.whole, i, __ATOMIC_SEQ_CST);
    return unused;
}
static void *write_part(void *unused) {
    word.parts[1] = 5;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, write_whole, 0);
    pthread_create(&two, 0, write_part, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
