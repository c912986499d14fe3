// No file may become larger than it is: the log cannot be written on, and the program must not notice.
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

enum { COUNT = 100000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// A log ends before the first record that is missing, so each thread writes some before there is no space for more; with an
// argument, the second one comes too late for that.
static pthread_barrier_t begun;
static int shared;

static void *count(void *unused) {
    pthread_barrier_wait(&begun);
    for (int i = 0; i < COUNT; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int arguments, char **unused) {
    (void)unused;
    pthread_t threads[2];
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    pthread_barrier_init(&begun, 0, arguments > 1 ? 1 : 2);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, count, 0);
        if (arguments > 1) usleep(500000);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return shared != 2 * COUNT;
}
