// Sessions ask, a configuration changes now and then, and the numbers of the day are kept under a lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 3, PAGES = 5 };

static int requests;
static struct {
    pthread_rwlock_t lock;
    int limit, version;
    char name[16];
} configuration = {.lock = PTHREAD_RWLOCK_INITIALIZER, .limit = 10, .version = 1, .name = "first"};

static struct {
    pthread_mutex_t lock;
    int requests, refused, bytes;
} day = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct page {
    pthread_mutex_t lock;
    int views, cached;
    char text[16];
} pages[PAGES];

static int active;             // how many sessions are about to answer
static int peak;               // how many there were at once
static int last_page, last_version;

static void count(int bytes, int refused) {
    pthread_mutex_lock(&day.lock);
    day.requests++;
    day.bytes += bytes;
    day.refused += refused;
    pthread_mutex_unlock(&day.lock);
}

static int answer(int number) {
    struct page *page = &pages[number];
    pthread_mutex_lock(&page->lock);
    page->views++;
    if (!page->cached) {
        memset(page->text, 'a' + number, sizeof page->text - 1);
        page->cached = 1;
    }
    int length = (int)strlen(page->text);
    pthread_mutex_unlock(&page->lock);
    last_page = number;
    return length;
}

static void *session(void *argument) {
    unsigned state = *(unsigned *)argument;
    for (int i = 0; i < requests; i++) {
        state = state * 1103515245 + 12345;
        pthread_rwlock_rdlock(&configuration.lock);
        int limit = configuration.limit, version = configuration.version;
        pthread_rwlock_unlock(&configuration.lock);
        active++;
        last_version = version;
        int refused = i >= limit * 2;
        int bytes = refused ? 0 : answer((int)(state >> 16) % PAGES);
        count(bytes, refused);
        if (active > peak) peak = active;
        active--;
    }
    return NULL;
}

static void *operator(void *unused) {
    for (int round = 0; round < 3; round++) {
        pthread_rwlock_wrlock(&configuration.lock);
        configuration.version++;
        strcpy(configuration.name, round % 2 ? "odd" : "even");
        pthread_rwlock_unlock(&configuration.lock);
        count(0, 0);
        last_version = -round;
        last_page = 0;
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t sessions[SESSIONS], operating;
    unsigned seeds[SESSIONS] = {31, 32, 33};
    requests = argc > 1 ? atoi(argv[1]) : 2;
    for (int i = 0; i < PAGES; i++) pthread_mutex_init(&pages[i].lock, NULL);
    for (int i = 0; i < SESSIONS; i++) pthread_create(&sessions[i], NULL, session, &seeds[i]);
    pthread_create(&operating, NULL, operator, NULL);
    for (int i = 0; i < SESSIONS; i++) pthread_join(sessions[i], NULL);
    pthread_join(operating, NULL);
    printf("%d requests, %d bytes, %d refused, peak %d\n", day.requests, day.bytes, day.refused, peak);
    return 0;
}
