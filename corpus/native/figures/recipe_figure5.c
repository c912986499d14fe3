// Figure 5 of the RECIPE paper, a bounded buffer: the test goes the same way with the old count, so the read behind it races with the
// write, too. Nobody reads the old count in the recorded run, in which the second thread sleeps until the first one is done.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { SIZE = 10 };

static int count;

static void *producer(void *unused) {
    count = 1; // 400
    return unused;
}

static void *consumer(void *unused) {
    usleep(1000);
    if (count < SIZE)                     // 291
        printf("%d\n", SIZE - count); // 294
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, producer, 0);
    pthread_create(&two, 0, consumer, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
