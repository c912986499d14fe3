// The handler of a division by zero writes only after what the other thread has left.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

int x = 1, y, table[101];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static sigjmp_buf out;

static void by_zero(int unused) {
    (void)unused;
    y = 2;
    siglongjmp(out, 1);
}
static void *other(void *unused) {
    y = 1;
    pthread_mutex_lock(&mutex);
    x = 0;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    signal(SIGFPE, by_zero);
    if (sigsetjmp(out, 1) == 0) {
        pthread_create(&thread, 0, other, 0);
        for (;;) {
            pthread_mutex_lock(&mutex);
            int seen = x;
            pthread_mutex_unlock(&mutex);
            table[100 / seen] = 1;
        }
    }
    pthread_join(thread, 0);
    return 0;
}
