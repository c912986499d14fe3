// What a thread keeps for itself is destroyed when it ends: others who wait for its end see what that has done.
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int destroyed, last;

static void destroy(void *kept) {
    pthread_mutex_lock(&lock);
    destroyed++;
    pthread_mutex_unlock(&lock);
    int *rounds = kept;
    last = *rounds;
    if (--*rounds > 0)
        pthread_setspecific(key, rounds);
    else
        free(rounds);
}

static void *work(void *unused) {
    int *rounds = malloc(sizeof *rounds);
    *rounds = 2;
    pthread_setspecific(key, rounds);
    return unused;
}

int main(void) {
    pthread_key_create(&key, destroy);
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    return destroyed != 4 || last != 1;
}
