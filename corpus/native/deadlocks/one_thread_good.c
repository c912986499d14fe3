// One thread takes two locks, and then in the opposite order: an inversion, but no other thread takes both.
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int balance, other_balance;

static void *both(void *unused) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    balance++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    balance--;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

static void *one_of_them(void *unused) {
    pthread_mutex_lock(&left);
    other_balance++;
    pthread_mutex_unlock(&left);
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, both, 0);
    pthread_create(&other, 0, one_of_them, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
