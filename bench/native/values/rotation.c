// Who writes to a log says what comes next and adds its length under a lock. Who looks after the file reads what was said while the file is short, and
// begins a new file when it is long.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t file = PTHREAD_MUTEX_INITIALIZER;
static unsigned char length;
static int files, first, last;
static volatile int shown;

static void *append(void *argument) {
    int size = *(int *)argument;
    last = size;
    if (first == 0)
        first = size;
    pthread_mutex_lock(&file);
    length += size;
    pthread_mutex_unlock(&file);
    return 0;
}

static void *keep(void *unused) {
    usleep(1000);
    pthread_mutex_lock(&file);
    unsigned char now = length;
    pthread_mutex_unlock(&file);
    if (now < 17) {
        shown = last;
        first = last;
    } else {
        files++;
        last = 0;
    }
    return 0;
}

static void *list(void *unused) {
    shown = files;
    return 0;
}

int main(void) {
    pthread_t threads[4];
    static int sizes[2] = {7, 5};
    pthread_create(&threads[0], 0, append, &sizes[0]);
    pthread_create(&threads[1], 0, append, &sizes[1]);
    pthread_create(&threads[2], 0, keep, 0);
    pthread_create(&threads[3], 0, list, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
