// A pipeline of three stages, each with its own queue; the source and the sink also keep books that no queue guards.
// hidden: 37 56
// hidden: 38 83
// hidden: 57 81
#include <pthread.h>

enum { ITEMS = 8, ROOM = 32 };

struct queue {
    pthread_mutex_t lock;
    int items[ROOM], begin, end;
};

static struct queue first = {PTHREAD_MUTEX_INITIALIZER, {0}, 0, 0};
static struct queue second = {PTHREAD_MUTEX_INITIALIZER, {0}, 0, 0};
static int batch_size; // told by the source
static int dropped;    // counted by the stage, read by the sink
static int checksum;   // begun by the source, ended by the sink

static void put(struct queue *queue, int item) {
    pthread_mutex_lock(&queue->lock);
    if (queue->end < ROOM)
        queue->items[queue->end++] = item;
    pthread_mutex_unlock(&queue->lock);
}

static int get(struct queue *queue) {
    int item = -1;
    pthread_mutex_lock(&queue->lock);
    if (queue->begin < queue->end)
        item = queue->items[queue->begin++];
    pthread_mutex_unlock(&queue->lock);
    return item;
}

static void *source(void *unused) {
    batch_size = ITEMS;
    checksum = 7;
    for (int item = 0; item < ITEMS; item++)
        put(&first, item);
    return unused;
}

static int filter(int item) { return item % 3 != 0; }

static void *stage(void *unused) {
    int missed = 0;
    for (int round = 0; round < 2 * ITEMS; round++) {
        int item = get(&second);
        if (item >= 0)
            missed++;
    }
    int size = 0, item = get(&first);
    if (item < 0)
        missed++;
    size = batch_size;
    dropped = missed;
    for (int round = 0; round < size; round++) {
        if (item >= 0 && filter(item))
            put(&second, item);
        item = get(&first);
    }
    return unused;
}

static int drain(int patience) {
    int sum = 0;
    while (patience-- > 0) {
        int item = get(&second);
        if (item >= 0)
            sum += item;
    }
    return sum;
}

static void *sink(void *unused) {
    static struct queue spare = {PTHREAD_MUTEX_INITIALIZER, {0}, 0, 0};
    for (int round = 0; round < 5 * ITEMS; round++)
        put(&spare, round);
    int sum = drain(6);
    if (dropped > 0)
        sum++;
    checksum = sum;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, source, 0);
    pthread_create(&threads[1], 0, stage, 0);
    pthread_create(&threads[2], 0, sink, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return checksum < 0;
}
