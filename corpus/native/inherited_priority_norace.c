// A lock in the kernel that gives its holder the priority of those who wait: the word is changed by the kernel alone.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static int word, count;
static long ask(int operation) { return syscall(SYS_futex, &word, operation, 0, NULL, NULL, 0); }
static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        if (ask(FUTEX_LOCK_PI_PRIVATE) != 0) return &word;
        count++;
        if (ask(FUTEX_UNLOCK_PI_PRIVATE) != 0) return &word;
    }
    return NULL;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return count > 4;
}
