// Threads that never end: items go through a queue with a condition and a semaphore, sums into a table with a lock for
// readers, and short threads are started and joined. All of it is right, unless an argument is given: then one
// variable has no lock.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct item {
    struct item *next;
    long value;
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, count_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t slots;
static struct item *queue;
static long count, table[64], unprotected;
static int races;

static void *produce(void *unused) {
    for (long i = 0;; i++) {
        sem_wait(&slots);
        struct item *item = malloc(sizeof *item);
        item->value = i;
        pthread_mutex_lock(&queue_lock);
        item->next = queue;
        queue = item;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&queue_lock);
        if (i % 64 == 0) {
            pthread_rwlock_wrlock(&table_lock);
            table[i / 64 % 64] += i;
            pthread_rwlock_unlock(&table_lock);
        }
        if (races && i % 16 == 0)
            unprotected = i;
    }
    return unused;
}

static void *consume(void *unused) {
    long sum = 0;
    for (;;) {
        pthread_mutex_lock(&queue_lock);
        while (!queue)
            pthread_cond_wait(&filled, &queue_lock);
        struct item *item = queue;
        queue = item->next;
        pthread_mutex_unlock(&queue_lock);
        sum += item->value;
        free(item);
        sem_post(&slots);
        pthread_rwlock_rdlock(&table_lock);
        sum += table[sum & 63];
        pthread_rwlock_unlock(&table_lock);
        pthread_mutex_lock(&count_lock);
        count++;
        pthread_mutex_unlock(&count_lock);
        if (races && sum % 7 == 0)
            sum += unprotected;
    }
    return unused;
}

static void *once(void *one) {
    pthread_mutex_lock(&count_lock);
    count += *(long *)one;
    pthread_mutex_unlock(&count_lock);
    return one;
}

int main(int argc, char **argv) {
    (void)argv;
    races = argc > 1;
    pthread_t threads[3];
    sem_init(&slots, 0, 100);
    pthread_create(&threads[0], 0, produce, 0);
    pthread_create(&threads[1], 0, consume, 0);
    pthread_create(&threads[2], 0, consume, 0);
    for (;;) {
        pthread_t thread;
        long *one = malloc(sizeof *one);
        *one = 1;
        pthread_create(&thread, 0, once, one);
        pthread_join(thread, 0);
        free(one);
    }
}
