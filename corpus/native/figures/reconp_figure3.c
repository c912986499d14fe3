// Figure 3 of the ReconP paper: the writes of y in lines 9 and 19 race. That m is read again matters to n only, which a cursory look
// (`Simulation::Partial`) does not see.
#include <pthread.h>

int m, n, x, y, z;

static void *first(void *unused) {
    x = 1;
    y = 1;
    z = 1;
    return unused;
}

static void *second(void *unused) {
    m = z + 1;
    n = m + 1;
    if (x > 1)
        return unused;
    y = 2;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return m + n == 0;
}
