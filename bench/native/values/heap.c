// Memory is handed out from one block, under a lock; the statistics of calls are not guarded. Who cleans up looks at them if there is room, and makes
// room otherwise.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static unsigned used, largest, calls, grown, limit = 39;
static volatile unsigned shown;

static void *allocate(void *argument) {
    unsigned size = *(unsigned *)argument;
    calls++;
    if (size > largest)
        largest = size;
    pthread_mutex_lock(&heap);
    used += size;
    pthread_mutex_unlock(&heap);
    return 0;
}

static void *clean(void *unused) {
    usleep(1000);
    pthread_mutex_lock(&heap);
    unsigned end = used;
    pthread_mutex_unlock(&heap);
    if (end <= limit) {
        shown = calls;
        largest /= 2;
    } else {
        limit *= 2;
        calls = 0;
        grown++;
    }
    return 0;
}

static void *look(void *unused) {
    shown = grown + limit;
    return 0;
}

int main(void) {
    pthread_t threads[4];
    static unsigned sizes[2] = {16, 24};
    pthread_create(&threads[0], 0, allocate, &sizes[0]);
    pthread_create(&threads[1], 0, allocate, &sizes[1]);
    pthread_create(&threads[2], 0, clean, 0);
    pthread_create(&threads[3], 0, look, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
