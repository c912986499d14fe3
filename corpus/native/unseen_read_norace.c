// What strcmp reads decides, and nobody sees it read: the value was written in a section that must stay before.
#include <pthread.h>
#include <string.h>

char state[8] = "new";
int data;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    data = 1;
    pthread_mutex_lock(&mutex);
    memcpy(state, "ready", 6);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    for (int ready = 0; !ready;) {
        pthread_mutex_lock(&mutex);
        ready = strcmp(state, "ready") == 0;
        pthread_mutex_unlock(&mutex);
    }
    data = 2;
    pthread_join(thread, 0);
    return 0;
}
