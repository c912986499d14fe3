// The balance is looked at without the lock under which it is changed.
// race: 10 15
#include <pthread.h>

int balance = 100, shown;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *withdraw(void *unused) {
    pthread_mutex_lock(&mutex);
    balance -= 10;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *look(void *unused) {
    shown = balance;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, withdraw, 0);
    pthread_create(&two, 0, look, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
