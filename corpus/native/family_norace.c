// Threads that start threads, and hand their results up.
#include <pthread.h>

int leaves;
static void *work(void *depth) {
    long left = (long)depth, sum = 1;
    if (left > 0) {
        pthread_t one, two;
        void *result;
        pthread_create(&one, 0, work, (void *)(left - 1));
        pthread_create(&two, 0, work, (void *)(left - 1));
        pthread_join(one, &result);
        sum = (long)result;
        pthread_join(two, &result);
        sum += (long)result;
    }
    return (void *)sum;
}

int main(void) {
    leaves = (long)work((void *)2);
    return leaves - 4;
}
