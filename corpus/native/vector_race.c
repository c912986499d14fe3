// Sixteen bytes are stored at once, and one word of them is read.
// race: 14 18
#include <pthread.h>

typedef int four __attribute__((vector_size(16)));

union {
    four all;
    int each[4];
} numbers;
int sum;

static void *first(void *unused) {
    numbers.all = (four){1, 2, 3, 4};
    return unused;
}
static void *second(void *unused) {
    sum = numbers.each[2];
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
