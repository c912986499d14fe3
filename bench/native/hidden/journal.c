// A database with a journal: transactions append to it, a checkpoint writes it back, and recovery code is tried out at the same time.
// hidden: 46 72
// hidden: 66 93
// hidden: 72 96
#include <pthread.h>
#include <string.h>

enum { ENTRIES = 32, KEYS = 4 };

struct entry {
    int key, value;
};

static struct entry journal[ENTRIES];
static int entries;
static int table[KEYS];
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t space_lock = PTHREAD_MUTEX_INITIALIZER;
static int free_space = 100;
static int format_version; // of the transactions
static char owner[8];      // of the checkpoint
static int synced;         // of the checkpoint

static int reserve(int bytes) {
    pthread_mutex_lock(&space_lock);
    free_space -= bytes;
    int is_left = free_space > 0;
    pthread_mutex_unlock(&space_lock);
    return is_left;
}

static void append(int key, int value) {
    pthread_mutex_lock(&journal_lock);
    if (entries < ENTRIES)
        journal[entries++] = (struct entry){key, value};
    pthread_mutex_unlock(&journal_lock);
}

static void commit(int transaction) {
    if (reserve(1))
        append(transaction % KEYS, transaction);
}

static void *transactions(void *unused) {
    format_version = 2;
    for (int transaction = 0; transaction < 9; transaction++)
        commit(transaction);
    return unused;
}

static int write_back(void) {
    int done = 0;
    pthread_mutex_lock(&journal_lock);
    for (int i = 0; i < entries; i++) {
        pthread_mutex_lock(&table_lock);
        table[journal[i].key] = journal[i].value;
        pthread_mutex_unlock(&table_lock);
        done++;
    }
    pthread_mutex_unlock(&journal_lock);
    return done;
}

static void *checkpoint(void *unused) {
    memcpy(owner, "cp-1", 5);
    for (int i = 0; i < 15; i++) {
        pthread_mutex_lock(&table_lock);
        pthread_mutex_unlock(&table_lock);
    }
    int done = write_back();
    synced = format_version == 2 ? done : -1;
    reserve(0);
    return unused;
}

static int read_key(int key) {
    pthread_mutex_lock(&table_lock);
    int value = table[key];
    pthread_mutex_unlock(&table_lock);
    return value;
}

static void *recovery(void *unused) {
    int sum = 0;
    static pthread_mutex_t tape_lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 60; i++) {
        pthread_mutex_lock(&tape_lock);
        sum += i;
        pthread_mutex_unlock(&tape_lock);
    }
    sum += read_key(0);
    if (owner[0] == 'c')
        sum++;
    reserve(1);
    if (synced > 0)
        append(0, sum);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, transactions, 0);
    pthread_create(&threads[1], 0, checkpoint, 0);
    pthread_create(&threads[2], 0, recovery, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return free_space > 100;
}
