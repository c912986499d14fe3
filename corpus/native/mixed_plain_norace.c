// A byte is written plainly, then the whole word is released and acquired atomically.
#include <pthread.h>
#include <stdint.h>

static union {
    uint32_t whole;
    uint8_t bytes[4];
} word;
int data;

static void *first(void *unused) {
    data = 1;
    word.bytes[1] = 5;
    __atomic_fetch_or(&word.whole, 1, __ATOMIC_RELEASE);
    return unused;
}
static void *second(void *unused) {
    while ((__atomic_load_n(&word.bytes[0], __ATOMIC_ACQUIRE) & 1) == 0) {
    }
    word.bytes[1]++;
    data++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return data == 2 && word.bytes[1] == 6 ? 0 : 1;
}
