// A reader waits for the mutex of a writer who waits for the reader.
#include <pthread.h>

static pthread_rwlock_t left = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *forth(void *unused) {
    pthread_rwlock_rdlock(&left);
    pthread_mutex_lock(&right);
    balance++;
    pthread_mutex_unlock(&right);
    pthread_rwlock_unlock(&left);
    return unused;
}

static void *back(void *unused) {
    pthread_mutex_lock(&right);
    pthread_rwlock_wrlock(&left);
    balance--;
    pthread_rwlock_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, forth, 0);
    pthread_create(&other, 0, back, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
