// A library writes a variable unseen, and a recorded write overwrites that before anybody reads it. In between it does not hold what was recorded last.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value, flag, secret;
int sink;

static void *one(void *unused) {
    pthread_mutex_lock(&lock);
    value = 3;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    sscanf("12", "%d", &value);
    flag = 1;
    pthread_mutex_unlock(&lock);
    secret = 1;
    pthread_mutex_lock(&lock);
    value = 3;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&lock);
    int flagged = flag, seen = value;
    pthread_mutex_unlock(&lock);
    // With the flag the value is 3 only after the secret was written, and the lock was taken once more.
    if (flagged && seen == 3)
        sink = secret;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
