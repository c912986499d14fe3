// Double-checked locking with a plain pointer: the first look at it races with the one who sets it.
// race: 9 14
#include <pthread.h>

int object, sum[2];
int *instance;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int *get(void) { int *found = instance;
    if (!found) {
        pthread_mutex_lock(&mutex);
        if (!instance) {
            object = 7;
            instance = &object;
        }
        found = instance;
        pthread_mutex_unlock(&mutex);
    }
    return found;
}

static void *use(void *which) {
    sum[(long)which] = *get();
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, use, (void *)0);
    pthread_create(&two, 0, use, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
