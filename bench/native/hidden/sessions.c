// A table of sessions, a lock for each bucket: users log in and out, an expiry thread walks through all buckets, an administrator looks in.
// hidden: 47 90
// hidden: 50 81
// hidden: 57 90
#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 4, USERS = 6 };

struct session {
    int user, requests;
    struct session *next;
};

static struct bucket {
    pthread_mutex_t lock;
    struct session *first;
} table[BUCKETS];

static int login_banner;  // shown by the administrator
static int expiry_cursor; // of the expiry, for the administrator
static int last_user;     // of who logs in

static struct bucket *bucket_of(int user) { return &table[user % BUCKETS]; }

static void log_in(int user) {
    struct bucket *bucket = bucket_of(user);
    struct session *session = malloc(sizeof *session);
    session->user = user;
    session->requests = 0;
    pthread_mutex_lock(&bucket->lock);
    session->next = bucket->first;
    bucket->first = session;
    pthread_mutex_unlock(&bucket->lock);
}

static int count_sessions(int bucket) {
    int count = 0;
    pthread_mutex_lock(&table[bucket].lock);
    for (struct session *session = table[bucket].first; session; session = session->next)
        count++;
    pthread_mutex_unlock(&table[bucket].lock);
    return count;
}

static void *users(void *unused) {
    login_banner = 1;
    for (int user = 0; user < USERS; user++) {
        log_in(user);
        last_user = user;
    }
    log_in(USERS);
    return unused;
}

static void expire(int bucket) {
    expiry_cursor = bucket;
    count_sessions(bucket);
}

static void *expiry(void *unused) {
    for (int round = 0; round < 6; round++)
        expire(BUCKETS - 1 - round % (BUCKETS - 1));
    return unused;
}

static int idle(int ticks) {
    static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;
    int now = 0;
    while (now < ticks) {
        pthread_mutex_lock(&clock_lock);
        now++;
        pthread_mutex_unlock(&clock_lock);
    }
    return now;
}

static int inspect(int bucket) {
    int sessions = count_sessions(bucket);
    if (bucket == 2)
        sessions += last_user;
    return sessions;
}

static void *administrator(void *unused) {
    idle(40);
    int sessions = 0;
    for (int bucket = BUCKETS - 1; bucket >= 0; bucket--)
        sessions += inspect(bucket);
    if (login_banner && expiry_cursor >= 0)
        idle(sessions % 2);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < BUCKETS; i++)
        pthread_mutex_init(&table[i].lock, 0);
    pthread_create(&threads[0], 0, users, 0);
    pthread_create(&threads[1], 0, expiry, 0);
    pthread_create(&threads[2], 0, administrator, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
