// The second thread is started once the first has ended.
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void *forth(void *unused) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    balance++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return unused;
}

static void *back(void *unused) {
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    balance--;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, forth, 0);
    pthread_join(one, 0);
    pthread_create(&other, 0, back, 0);
    pthread_join(other, 0);
    return 0;
}
