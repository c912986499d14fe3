// An array that grows under the lock.
#include <pthread.h>
#include <stdlib.h>

int *list, length;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        list = realloc(list, sizeof(int) * (length + 1));
        list[length] = length ? list[length - 1] + 1 : 0;
        length++;
        pthread_mutex_unlock(&mutex);
    }
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
