// A process and its copy meet at objects in memory that both see: nobody else can end these waits.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    pthread_rwlock_t rwlock;
    sem_t ping, pong;
    int turn;
    int sum;
} *shared;

static int alone;

static void wait_for_turn(int turn) {
    pthread_mutex_lock(&shared->mutex);
    while (shared->turn != turn) pthread_cond_wait(&shared->condition, &shared->mutex);
    shared->turn++;
    pthread_cond_broadcast(&shared->condition);
    pthread_mutex_unlock(&shared->mutex);
}

static void add(void) {
    pthread_spin_lock(&shared->spin);
    pthread_rwlock_wrlock(&shared->rwlock);
    shared->sum++;
    usleep(1000);
    pthread_rwlock_unlock(&shared->rwlock);
    pthread_spin_unlock(&shared->spin);
}

static void make(void) {
    pthread_mutexattr_t mutex;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &mutex);
    pthread_condattr_t condition;
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->condition, &condition);
    pthread_barrierattr_t barrier;
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &barrier, 3);
    pthread_rwlockattr_t rwlock;
    pthread_rwlockattr_init(&rwlock);
    pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&shared->rwlock, &rwlock);
    pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED);
    sem_init(&shared->ping, 1, 0);
    sem_init(&shared->pong, 1, 0);
}

static void *work(void *unused) {
    alone++;
    for (int i = 0; i < 5; i++) add();
    pthread_barrier_wait(&shared->barrier);
    return unused;
}

int main(void) {
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    make();
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 3; i++) {
            sem_wait(&shared->ping);
            wait_for_turn(2 * i + 1);
            sem_post(&shared->pong);
        }
        for (int i = 0; i < 5; i++) add();
        pthread_barrier_wait(&shared->barrier);
        return 0;
    }
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    for (int i = 0; i < 3; i++) {
        wait_for_turn(2 * i);
        sem_post(&shared->ping);
        sem_wait(&shared->pong);
    }
    pthread_barrier_wait(&shared->barrier);
    pthread_join(thread, 0);
    int status = 1;
    waitpid(child, &status, 0);
    return status != 0 || shared->sum != 10 || shared->turn != 6 || alone != 1;
}
