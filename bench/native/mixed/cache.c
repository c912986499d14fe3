// A cache in front of something slow: buckets have locks of their own, statistics share one, and when an entry was used last is written
// without any.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 4, WAYS = 2, KEYS = 12 };

static int requests;
struct entry {
    int key, value, used;
};

static struct bucket {
    pthread_mutex_t lock;
    struct entry ways[WAYS];
} buckets[BUCKETS];

static struct {
    pthread_mutex_t lock;
    int hits, misses, evictions;
} statistics = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int now;            // nobody orders the ticks
static int slowest_key;    // a hint for people, written by whoever noticed
static int warm;           // set once by the thread that fills the cache

static int compute(int key) {
    int value = key;
    for (int i = 0; i < 3; i++) value = value * 31 + i;
    return value;
}

static void count(int *what) {
    pthread_mutex_lock(&statistics.lock);
    (*what)++;
    pthread_mutex_unlock(&statistics.lock);
}

static int look_up(int key) {
    struct bucket *bucket = &buckets[key % BUCKETS];
    struct entry *oldest = &bucket->ways[0];
    pthread_mutex_lock(&bucket->lock);
    for (int way = 0; way < WAYS; way++) {
        struct entry *entry = &bucket->ways[way];
        if (entry->key == key) {
            int value = entry->value;
            pthread_mutex_unlock(&bucket->lock);
            entry->used = ++now;
            count(&statistics.hits);
            return value;
        }
        if (entry->used < oldest->used) oldest = entry;
    }
    if (oldest->key != 0) count(&statistics.evictions);
    *oldest = (struct entry){.key = key, .value = compute(key), .used = now};
    int value = oldest->value;
    pthread_mutex_unlock(&bucket->lock);
    slowest_key = key;
    count(&statistics.misses);
    return value;
}

static void *client(void *argument) {
    unsigned state = *(unsigned *)argument;
    int wrong = 0;
    for (int i = 0; i < requests; i++) {
        state = state * 1103515245 + 12345;
        int key = 1 + (int)(state >> 16) % KEYS;
        wrong += look_up(key) != compute(key);
    }
    if (!warm) warm = 1;
    return wrong ? argument : NULL;
}

int main(int argc, char **argv) {
    pthread_t clients[3];
    unsigned seeds[3] = {1, 2, 3};
    requests = argc > 1 ? atoi(argv[1]) : 4;
    for (int i = 0; i < BUCKETS; i++) pthread_mutex_init(&buckets[i].lock, NULL);
    for (int i = 0; i < 3; i++) pthread_create(&clients[i], NULL, client, &seeds[i]);
    for (int i = 0; i < 3; i++) pthread_join(clients[i], NULL);
    printf("%d hits, %d misses, %d evictions, %d\n", statistics.hits, statistics.misses, statistics.evictions, slowest_key);
    return 0;
}
