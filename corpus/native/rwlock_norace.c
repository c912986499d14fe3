// Readers together, the writer alone.
#include <pthread.h>

int data, seen[2];
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *read_it(void *which) {
    for (int i = 0; i < 3; i++) {
        pthread_rwlock_rdlock(&lock);
        seen[(long)which] = data;
        pthread_rwlock_unlock(&lock);
    }
    return 0;
}
static void *write_it(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_rwlock_wrlock(&lock);
        data++;
        pthread_rwlock_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t one, two, three;
    pthread_create(&one, 0, read_it, (void *)0);
    pthread_create(&two, 0, read_it, (void *)1);
    pthread_create(&three, 0, write_it, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    return 0;
}
