// Double-checked locking with an atomic pointer.
#include <pthread.h>
#include <stdatomic.h>

int object, sum[2];
int *_Atomic instance;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int *get(void) {
    int *found = atomic_load_explicit(&instance, memory_order_acquire);
    if (!found) {
        pthread_mutex_lock(&mutex);
        found = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!found) {
            object = 7;
            found = &object;
            atomic_store_explicit(&instance, found, memory_order_release);
        }
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
