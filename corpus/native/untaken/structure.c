// What lies beside is reached by a pointer that the thread was given.
// untaken: 17 27
#include <pthread.h>

struct shared {
    pthread_mutex_t mutex;
    int go;
    int values[4];
};

static void *one(void *given) {
    struct shared *shared = given;
    pthread_mutex_lock(&shared->mutex);
    shared->go = 1;
    pthread_mutex_unlock(&shared->mutex);
    for (int i = 0; i < 4; i++)
        shared->values[i] = 1;
    return 0;
}

static void *two(void *given) {
    struct shared *shared = given;
    pthread_mutex_lock(&shared->mutex);
    int seen = shared->go;
    pthread_mutex_unlock(&shared->mutex);
    if (!seen)
        shared->values[2] = 2;
    return 0;
}

int main(void) {
    static struct shared shared = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t a, b;
    shared.go = 0;
    pthread_create(&a, 0, one, &shared);
    pthread_create(&b, 0, two, &shared);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
