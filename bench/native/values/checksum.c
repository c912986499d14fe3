// Parts of a picture are added to a checksum under a lock. Who finds the sum to be impossible says so, and begins again.
#include <pthread.h>

static pthread_mutex_t sum = PTHREAD_MUTEX_INITIALIZER;
static unsigned checksum, wrong, rows, brightest;

static void *add(void *argument) {
    unsigned brightness = *(unsigned *)argument;
    pthread_mutex_lock(&sum);
    checksum += brightness;
    unsigned now = checksum;
    pthread_mutex_unlock(&sum);
    if ((now & 7) == 7) {
        wrong++;
        rows = 0;
    } else {
        rows++;
        if (brightness > brightest)
            brightest = brightness;
    }
    return 0;
}

int main(void) {
    pthread_t threads[3];
    static unsigned parts[3] = {3, 6, 4};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, add, &parts[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
