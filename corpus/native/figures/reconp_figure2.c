// Figure 2 of the ReconP paper: the writes of p[0] in lines 10 and 31 race. For that, the third thread must find x to be 2, which the
// second one reads from z; but what the two read from y does not matter.
#include <pthread.h>
#include <stdio.h>

int p[4], t, x, y, z;

static void *first(void *unused) {
    x = 0;
    p[x] = 0;
    y = 1;
    return unused;
}

static void *second(void *unused) {
    t = y;
    if (z == 0)
        z = t;
    x = z;
    if (y > 0)
        printf("%d\n", 1);
    y = 3;
    return unused;
}

static void *third(void *unused) {
    z = 2;
    z = y;
    if (x == 2)
        // The race of the figure.
        p[0] = y;
    return unused;
}

int main(void) {
    pthread_t one, two, three;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_create(&three, 0, third, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    return 0;
}
