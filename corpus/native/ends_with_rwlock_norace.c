// Readers end with a lock that is given up for them.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int data;

static void *read_and_end(void *unused) {
    pthread_rwlock_rdlock(&lock);
    return data == 1 ? unused : &data;
}

int main(void) {
    pthread_t threads[2];
    data = 1;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, read_and_end, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < 2; i++) pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    data = 2;
    pthread_rwlock_unlock(&lock);
    return 0;
}
