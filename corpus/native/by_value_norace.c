// A structure that is passed by value is read by the call. What it says decides whether the data is touched.
#include <pthread.h>

struct message {
    long ready;
    char text[56];
};
static struct message message;
static int data;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int is_ready(struct message copy) { return copy.ready == 1; }

static void *sender(void *unused) {
    data = 42;
    pthread_mutex_lock(&lock);
    message.ready = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    for (int done = 0; !done;) {
        pthread_mutex_lock(&lock);
        done = is_ready(message);
        pthread_mutex_unlock(&lock);
    }
    data++;
    pthread_join(thread, 0);
}
