// A thread ends with locks: one is made anew, one is a recursive one that stays taken.
#include <pthread.h>

static pthread_mutex_t renewed = PTHREAD_MUTEX_INITIALIZER, kept;
static int data;

static void *end_with_them(void *unused) {
    pthread_mutex_lock(&renewed);
    pthread_mutex_lock(&kept);
    pthread_mutex_lock(&kept);
    data++;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&kept, &recursive);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, 0, end_with_them, 0);
        pthread_join(thread, 0);
        pthread_mutex_init(&renewed, 0);
        pthread_mutex_init(&kept, &recursive);
        pthread_mutex_lock(&renewed);
        data++;
        pthread_mutex_unlock(&renewed);
    }
    return pthread_mutex_unlock(&kept) == 0;
}
