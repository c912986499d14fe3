// Never ends by itself, and has a rest now and then.
#include <pthread.h>
#include <unistd.h>

static int shared;

static void *count(void *unused) {
    for (long i = 0;; i++) {
        shared++;
        if (i % 1000 == 0) usleep(1000);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
    count(0);
}
