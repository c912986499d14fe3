// A hash table whose buckets have locks; how many entries there are is counted by a plain increment, and deletions are remembered by nobody's rule.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 6, THREADS = 3, KEYS = 20 };

static int steps;
struct node {
    int key, value, visits;
    struct node *next;
};

static struct bucket {
    pthread_mutex_t lock;
    struct node *first;
    int length;
} table[BUCKETS];

static int size;               // nobody protects it
static pthread_mutex_t shape = PTHREAD_MUTEX_INITIALIZER;
static int longest, changes;
static int last_key;

static void measure(int length) {
    pthread_mutex_lock(&shape);
    changes++;
    if (length > longest) longest = length;
    pthread_mutex_unlock(&shape);
}

static void put(int key, int value) {
    struct bucket *bucket = &table[key % BUCKETS];
    pthread_mutex_lock(&bucket->lock);
    struct node *node = bucket->first;
    while (node && node->key != key) node = node->next;
    if (!node) {
        node = calloc(1, sizeof *node);
        node->key = key;
        node->next = bucket->first;
        bucket->first = node;
        bucket->length++;
        size++;
    }
    node->value = value;
    int length = bucket->length;
    pthread_mutex_unlock(&bucket->lock);
    last_key = key;
    measure(length);
}

static int get(int key) {
    struct bucket *bucket = &table[key % BUCKETS];
    int value = -1;
    pthread_mutex_lock(&bucket->lock);
    for (struct node *node = bucket->first; node; node = node->next) {
        if (node->key == key) {
            node->visits++;
            value = node->value;
        }
    }
    pthread_mutex_unlock(&bucket->lock);
    return value;
}

static void *user(void *argument) {
    unsigned state = *(unsigned *)argument;
    int sum = 0;
    for (int i = 0; i < steps; i++) {
        state = state * 1103515245 + 12345;
        int key = (int)(state >> 16) % KEYS;
        if (state >> 28 & 1) put(key, i); else sum += get(key);
        if (i % 10 == 9) sum += size;
    }
    last_key = sum;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t users[THREADS];
    unsigned seeds[THREADS] = {5, 6, 7};
    steps = argc > 1 ? atoi(argv[1]) : 4;
    for (int i = 0; i < BUCKETS; i++) pthread_mutex_init(&table[i].lock, NULL);
    for (int i = 0; i < THREADS; i++) pthread_create(&users[i], NULL, user, &seeds[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(users[i], NULL);
    printf("%d entries, longest chain %d, %d changes\n", size, longest, changes);
    return 0;
}
