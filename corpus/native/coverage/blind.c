// Each access is followed by a call of code that is not instrumented: nothing can be reordered, so the race is not seen.
#include <pthread.h>

static int counter;

__attribute__((noinline, disable_sanitizer_instrumentation)) static void unseen_library(void) {
    __asm__ volatile("" ::: "memory");
}

static void *count(void *unused) {
    for (int i = 0; i < 5; i++) {
        unseen_library();
        counter++;
        unseen_library();
    }
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, count, 0);
    count(0);
    pthread_join(other, 0);
    return 0;
}
