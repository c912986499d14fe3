// Only the handler of a signal can end this wait.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t posted;
static int data;

static void handle(int unused) {
    (void)unused;
    sem_post(&posted);
}

static void *work(void *unused) {
    data = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = handle};
    sem_init(&posted, 0, 0);
    sigaction(SIGALRM, &action, 0);
    pthread_create(&thread, 0, work, 0);
    alarm(1);
    while (sem_wait(&posted) != 0) continue;
    pthread_join(thread, 0);
    return data != 1;
}
