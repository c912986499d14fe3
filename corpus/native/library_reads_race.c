// race: 14 22
// A buffer is written to a file while another thread fills it.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char buffer[64] = "some text";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int filled;

static void *fill(void *unused) {
    pthread_mutex_lock(&lock);
    filled = 1;
    pthread_mutex_unlock(&lock); buffer[32] = 'x';
    return unused;
}

int main(void) {
    FILE *file = fopen("/dev/null", "w");
    pthread_t thread;
    pthread_create(&thread, NULL, fill, NULL);
    size_t written = fwrite(buffer, 1, sizeof buffer, file);
    pthread_mutex_lock(&lock);
    filled += 2;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    fclose(file);
    return written != sizeof buffer;
}
