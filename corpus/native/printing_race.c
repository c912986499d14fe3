// To print numbers orders nothing.
// race: 9 9
#include <pthread.h>
#include <stdio.h>

int counter;

static void *work(void *unused) {
    counter++;
    printf("counted %d\n", 1);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
