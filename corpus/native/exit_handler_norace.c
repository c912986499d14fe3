// One thread registers what another runs when it ends the process.
#include <pthread.h>
#include <stdlib.h>
static int count;
static void handler(void) { count++; }
static void *add_handler(void *unused) {
    (void)unused;
    count = 1;
    atexit(handler);
    return NULL;
}
static void *end(void *unused) {
    (void)unused;
    exit(0);
}
int main(void) {
    pthread_t adding, ending;
    pthread_create(&adding, NULL, add_handler, NULL);
    pthread_create(&ending, NULL, end, NULL);
    pthread_detach(adding);
    pthread_join(ending, NULL);
}
