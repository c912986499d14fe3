// The second thread goes on only by what the first has left, in a loop.
#include <pthread.h>

int x, y;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    y = 1;
    pthread_mutex_lock(&mutex);
    x = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *second(void *unused) {
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&mutex);
        seen = x;
        pthread_mutex_unlock(&mutex);
    }
    y = 2;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
