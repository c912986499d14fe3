// race: 15 23
// A text is formatted while another thread changes it.
#include <pthread.h>
#include <stdio.h>

static char name[16] = "first";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *rename_it(void *unused) {
    pthread_mutex_lock(&lock);
    turns++;
    pthread_mutex_unlock(&lock);
    // The lock is free already.
    name[0] = 'F';
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, rename_it, NULL);
    char line[32]; pthread_mutex_lock(&lock); turns++; pthread_mutex_unlock(&lock);
    snprintf(line, sizeof line, "%d: %.*s", 3, 4, name);
    pthread_join(thread, NULL);
    puts(line);
    return 0;
}
