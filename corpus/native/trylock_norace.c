// Who does not get the lock leaves the counter alone.
#include <pthread.h>

int counter, missed[2];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *which) {
    for (int i = 0; i < 10; i++) {
        if (pthread_mutex_trylock(&mutex) == 0) {
            counter++;
            pthread_mutex_unlock(&mutex);
        } else {
            missed[(long)which]++;
        }
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, (void *)0);
    pthread_create(&two, 0, work, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
