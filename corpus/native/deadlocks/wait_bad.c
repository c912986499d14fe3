// A thread waits for a condition while it holds another lock. To come back it needs the lock of the condition, which a
// third thread holds that waits for the other one.
#include <pthread.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready, served;

static void *waiter(void *unused) {
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    while (!is_ready) pthread_cond_wait(&ready, &inner);
    pthread_mutex_unlock(&inner);
    served++;
    pthread_mutex_unlock(&outer);
    return unused;
}

static void *waker(void *unused) {
    pthread_mutex_lock(&inner);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&inner);
    return unused;
}

static void *other(void *unused) {
    pthread_mutex_lock(&inner);
    pthread_mutex_lock(&outer);
    served++;
    pthread_mutex_unlock(&outer);
    pthread_mutex_unlock(&inner);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, other, 0);
    pthread_create(&threads[1], 0, waiter, 0);
    pthread_create(&threads[2], 0, waker, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
