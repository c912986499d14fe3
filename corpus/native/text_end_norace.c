// Where the text ends decides what is read behind it, and the lock decides where it ends.
#include <pthread.h>
#include <string.h>

char text[16] = "ab";
unsigned long length;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    text[3] = 'd';
    pthread_mutex_lock(&mutex);
    text[2] = 'c';
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&mutex);
    length = strlen(text);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
