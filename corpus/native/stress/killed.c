// Is killed in the midst of its work. Its last write is in the log.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int last, other;

static void *work(void *unused) {
    for (int i = 0; i < 100; i++) other += last;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    last = 1;
    pthread_join(thread, 0);
    last = 4711;
    kill(getpid(), SIGKILL);
    return 0;
}
