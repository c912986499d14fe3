// What reports call things: threads by their own names, memory by type and field, and who allocated it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

struct stats {
    long hits;
    long misses;
};

struct connection {
    int fd;
    char peer[20];
    struct stats stats;
    struct connection *next;
};

struct pool {
    pthread_mutex_t lock;
    struct connection *first;
    struct stats total[2];
} pool = {PTHREAD_MUTEX_INITIALIZER};

static void *allocate(size_t bytes) {
    return calloc(1, bytes);
}

static void account(struct connection *connection) {
    connection->stats.hits++;
    pool.total[1].hits++;
}

static void *worker(void *argument) {
    pthread_setname_np(pthread_self(), "net-worker");
    account(argument);
    return NULL;
}

static void *janitor(void *argument) {
    prctl(PR_SET_NAME, "janitor");
    struct connection *connection = argument;
    pthread_mutex_lock(&pool.lock);
    connection->stats.hits++;
    pool.total[1].hits++;
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

struct shared {
    int *sum;
    struct stats *stats;
};

static void *add(void *argument) {
    struct shared *shared = argument;
    *shared->sum += 1;
    shared->stats->misses += 1;
    return NULL;
}

int main(void) {
    struct connection *connection = allocate(sizeof *connection);
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, worker, connection);
    pthread_create(&threads[1], NULL, janitor, connection);
    int sum = 0;
    struct stats local = {0, 0};
    struct shared shared = {&sum, &local};
    pthread_create(&threads[2], NULL, add, &shared);
    sum += 2;
    local.misses += 2;
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld %d\n", connection->stats.hits, sum);
    free(connection);
    return 0;
}
