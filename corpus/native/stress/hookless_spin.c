// The first thread waits in a loop that the recorder does not see; only the other thread can end it.
#include <pthread.h>

static int flag, data;

__attribute__((disable_sanitizer_instrumentation, noinline)) static void spin(void) {
    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) {}
}

static void *set(void *unused) {
    data = 1;
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    spin();
    data++;
    pthread_join(thread, 0);
    return data != 2;
}
