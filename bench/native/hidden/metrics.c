// Metrics: threads count events in shards, a flusher gathers them, an exporter hands them out.
// hidden: 30 62
// hidden: 62 81
// race: 33 33
#include <pthread.h>

enum { SHARDS = 3, EVENTS = 12 };

struct shard {
    pthread_mutex_t lock;
    long events;
};

static struct shard shards[SHARDS];
static pthread_rwlock_t export_lock = PTHREAD_RWLOCK_INITIALIZER;
static long exported;
static int unit;        // chosen by the counter of the first shard
static int flush_error; // of the flusher
static long sampled;    // counted by all, guarded by nobody

static void count(int shard) {
    pthread_mutex_lock(&shards[shard].lock);
    shards[shard].events++;
    pthread_mutex_unlock(&shards[shard].lock);
}

static void *counter(void *which) {
    int shard = *(int *)which;
    if (shard == 0)
        unit = 1000;
    for (int i = 0; i < EVENTS; i++)
        count(shard);
    sampled++;
    return 0;
}

static long gather(int shard) {
    pthread_mutex_lock(&shards[shard].lock);
    long events = shards[shard].events;
    shards[shard].events = 0;
    pthread_mutex_unlock(&shards[shard].lock);
    return events;
}

static void publish(long events) {
    pthread_rwlock_wrlock(&export_lock);
    exported += events;
    pthread_rwlock_unlock(&export_lock);
}

static long flush(int from) {
    long events = 0;
    for (int round = 0; round < 8; round++)
        for (int shard = SHARDS - 1; shard >= from; shard--)
            events += gather(shard);
    return events;
}

static void *flusher(void *unused) {
    long events = flush(1);
    events += flush(0);
    flush_error = unit == 0 && events > 0;
    publish(events);
    return unused;
}

static long look(void) {
    pthread_rwlock_rdlock(&export_lock);
    long seen = exported;
    pthread_rwlock_unlock(&export_lock);
    return seen;
}

static void *exporter(void *unused) {
    static pthread_mutex_t socket_lock = PTHREAD_MUTEX_INITIALIZER;
    for (int packet = 0; packet < 90; packet++) {
        pthread_mutex_lock(&socket_lock);
        pthread_mutex_unlock(&socket_lock);
    }
    long seen = look();
    if (flush_error)
        publish(-seen);
    return unused;
}

int main(void) {
    pthread_t threads[4];
    int numbers[2] = {0, 1};
    for (int i = 0; i < SHARDS; i++)
        pthread_mutex_init(&shards[i].lock, 0);
    pthread_create(&threads[0], 0, counter, &numbers[0]);
    pthread_create(&threads[1], 0, counter, &numbers[1]);
    pthread_create(&threads[2], 0, flusher, 0);
    pthread_create(&threads[3], 0, exporter, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return sampled > 2;
}
