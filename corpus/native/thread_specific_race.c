// race: 10 10
// What a thread keeps for itself is destroyed when it ends, by that thread, and this is part of what it does.
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static int destroyed;

static void destroy(void *kept) {
    destroyed++;
    free(kept);
}

static void *work(void *unused) {
    pthread_setspecific(key, malloc(4));
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_key_create(&key, destroy);
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return destroyed != 2;
}
