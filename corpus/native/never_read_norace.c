// options: -O3 -march=native
// The second thread never reads what the first one writes, nor writes it, though an optimiser might: it would choose
// between two values that were both read, read ahead of a loop without rounds, or write back what no round has changed.
#include <pthread.h>

int chosen, limit, total, late;

__attribute__((noinline)) static int choose(int mine) { return mine ? chosen : 7; }

__attribute__((noinline)) static int add(const int *from, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += from[i] * limit;
    return sum;
}

__attribute__((noinline)) static void count(const int *from, int number, int wanted) {
    for (int i = 0; i < number; i++)
        if (from[i] == wanted)
            total++;
}

__attribute__((noinline)) static int twice(int first, int second) {
    int sum = 0;
    if (first)
        sum += late;
    for (int i = 0; i < second; i++)
        sum += late;
    return sum;
}

static void *writes(void *unused) {
    chosen = limit = total = late = 1;
    return unused;
}
static void *reads(void *unused) {
    static volatile int none, other = 5;
    static int own[64];
    own[0] = choose(none) + add(own, none) + twice(none, none);
    count(own, 64, 1000 + other);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, writes, 0);
    pthread_create(&two, 0, reads, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return chosen + limit + total + late != 4;
}
