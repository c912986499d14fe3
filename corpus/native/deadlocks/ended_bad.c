// A thread ends and never gives its lock up.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *polite(void *unused) {
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *rude(void *unused) {
    pthread_mutex_lock(&lock);
    done++;
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, polite, 0);
    pthread_create(&other, 0, rude, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
