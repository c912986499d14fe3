// Each thread sorts its own half; the comparison counts under a lock.
#include <pthread.h>
#include <stdlib.h>

int numbers[8] = {5, 3, 8, 1, 7, 2, 6, 4}, comparisons;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *one, const void *other) {
    pthread_mutex_lock(&mutex);
    comparisons++;
    pthread_mutex_unlock(&mutex);
    return *(const int *)one - *(const int *)other;
}
static void *first(void *unused) {
    qsort(numbers, 4, sizeof(int), compare);
    return unused;
}
static void *second(void *unused) {
    qsort(numbers + 4, 4, sizeof(int), compare);
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
