// What depends on reads and is not computed: as many times as it says below, for each reason.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int number = 3;
static volatile double real = 1.5;
static volatile __int128 wide = 7;
static volatile int result, flag;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    number = 4, real = 2.5, wide = 9;
    pthread_mutex_unlock(&lock);
    flag = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    int kept = number + 1;
#ifdef FLOATING_POINT
    kept += real * 2 > 4;
#endif
#ifdef WIDE
    kept += (int)(wide * 3);
#endif
#ifdef OPERATION
    kept += __builtin_popcount(number);
#endif
    result = kept;
    pthread_mutex_unlock(&lock);
    flag = 2;
    pthread_join(thread, NULL);
    return 0;
}
