// A timer of the C library calls on a thread that nobody has seen begin: it posts, notifies, and gives up a lock.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static sem_t posted, wanted;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int told, data;

static void called(union sigval unused) {
    (void)unused;
    pthread_mutex_lock(&held);
    sem_post(&posted);
    usleep(50000);
    pthread_mutex_lock(&mutex);
    told = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    // The program tells this thread something, too.
    sem_wait(&wanted);
    usleep(50000);
    pthread_mutex_unlock(&held);
}

static void *work(void *unused) {
    data = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    timer_t timer;
    sem_init(&posted, 0, 0);
    sem_init(&wanted, 0, 0);
    pthread_create(&thread, 0, work, 0);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = called};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 2;
    struct itimerspec soon = {.it_value = {0, 100000000}};
    timer_settime(timer, 0, &soon, 0);
    sem_wait(&posted);
    pthread_mutex_lock(&mutex);
    while (!told) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    sem_post(&wanted);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    pthread_join(thread, 0);
    return data != 1;
}
