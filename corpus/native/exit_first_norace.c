// Threads that are not joined work with a lock while another thread ends the process; handlers of `exit` do so, too.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int counter;

static void count(void) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
}

static void *work(void *unused) {
    count();
    usleep(2000);
    count();
    return unused;
}

static void *wait_for_ever(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_wait(&never, &mutex);
    return unused;
}

static void *leave(void *unused) {
    count();
    exit(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    atexit(count);
    pthread_create(&thread, 0, work, 0);
    pthread_create(&thread, 0, wait_for_ever, 0);
    pthread_create(&thread, 0, leave, 0);
    pthread_join(thread, 0);
    return 1;
}
