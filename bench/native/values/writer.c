// A writer that collects lines and writes them out when there are enough. Who writes them out holds the lock of the file, and not that of the lines.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER, file = PTHREAD_MUTEX_INITIALIZER;
static int lines, written, largest;

static void write_out(void) {
    pthread_mutex_lock(&file);
    written += lines;
    lines = 0;
    pthread_mutex_unlock(&file);
}

static void add(int count) {
    pthread_mutex_lock(&adding);
    lines += count;
    if (lines > largest)
        largest = lines;
    pthread_mutex_unlock(&adding);
    if (lines >= 8)
        write_out();
}

static void *first(void *unused) {
    add(3);
    add(2);
    return 0;
}

static void *second(void *unused) {
    add(2);
    add(4);
    return 0;
}

static void *closing(void *unused) {
    usleep(1000);
    pthread_mutex_lock(&file);
    if (written < 8)
        written += lines;
    pthread_mutex_unlock(&file);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_create(&threads[2], 0, closing, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
