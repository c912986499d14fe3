// The second thread begins once it has seen a flag that the first sets when it has given its locks up.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static atomic_int is_over;

static void *forth(void *unused) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    balance++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    is_over = 1;
    return unused;
}

static void *back(void *unused) {
    if (!is_over) return unused;
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
    pthread_create(&other, 0, back, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
