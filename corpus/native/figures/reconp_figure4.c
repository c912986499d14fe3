// Figure 4 of the ReconP paper: what line 15 writes depends on both reads, of a and of b, though the inner call knows the first argument
// by the name of the second.
#include <pthread.h>

int a = 1, b = 2, c;

__attribute__((noinline)) static int weigh(int x, int y, int depth) {
    if (depth == 3)
        return 0;
    return x * 2 + weigh(y, x, depth + 1);
}

static void *first(void *unused) {
    // Both reads are in the value.
    c = weigh(a, b, 0);
    return unused;
}

static void *second(void *unused) {
    a = 3;
    b = 4;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return c == 0;
}
