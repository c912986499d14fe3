// Figure 1 of the RECIPE paper: the condition holds with the first write of y already, so x may be read before it is written. The second
// thread sleeps, so that the first one is done in the recorded run.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int x, y;

static void *first(void *unused) {
    y = 3;
    x = 1; // 2
    y = 5;
    return unused;
}

static void *second(void *unused) {
    usleep(1000);
    if (y > 2)
        printf("%d\n", 1 / x); // 5
    else
        printf("%d\n", 2 / x); // 7
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
