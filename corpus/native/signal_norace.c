// A signal that the thread sends to itself.
#include <pthread.h>
#include <signal.h>

volatile sig_atomic_t caught;
int data;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void handle(int number) {
    caught = number;
}
static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    raise(SIGUSR1);
    data += caught == SIGUSR1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    signal(SIGUSR1, handle);
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return data - 2;
}
