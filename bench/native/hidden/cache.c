// A cache of pages: a loader fills it, readers look things up, a reaper throws old pages out and resets the counters.
// hidden: 48 69
// race: 73 73
// race: 73 96
#include <pthread.h>
#include <stdlib.h>

enum { PAGES = 6, LOOKUPS = 12 };

struct page {
    pthread_rwlock_t lock;
    int number, age;
};

static struct page *pages[PAGES];
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int capacity;   // tuned by the loader
static int generation; // raised by the reaper
static int hits;       // nobody guards it at all

static struct page *make_page(int number) {
    struct page *page = malloc(sizeof *page);
    pthread_rwlock_init(&page->lock, 0);
    page->number = number;
    page->age = 0;
    return page;
}

static void insert(struct page *page) {
    pthread_mutex_lock(&list_lock);
    if (count < PAGES)
        pages[count++] = page;
    pthread_mutex_unlock(&list_lock);
}

static struct page *find(int number) {
    struct page *found = 0;
    pthread_mutex_lock(&list_lock);
    for (int i = 0; i < count; i++)
        if (pages[i]->number == number)
            found = pages[i];
    pthread_mutex_unlock(&list_lock);
    return found;
}

static void *loader(void *unused) {
    capacity = PAGES;
    for (int number = 0; number < PAGES; number++)
        insert(make_page(number));
    return unused;
}

static void touch(struct page *page) {
    pthread_rwlock_wrlock(&page->lock);
    page->age++;
    pthread_rwlock_unlock(&page->lock);
}

static void *reader(void *unused) {
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    struct page *mine = make_page(99);
    for (int i = 0; i < LOOKUPS; i++) {
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
        touch(mine);
    }
    struct page *page = find(0);
    int room = capacity - 1;
    if (page)
        touch(page);
    if (room > 0)
        hits++;
    free(mine);
    return unused;
}

static int oldest(void) {
    int age = 0;
    for (int round = 0; round < 3; round++)
        for (int number = 0; number < PAGES; number++) {
            struct page *page = find(number);
            if (!page)
                continue;
            pthread_rwlock_rdlock(&page->lock);
            if (page->age > age)
                age = page->age;
            pthread_rwlock_unlock(&page->lock);
        }
    return age;
}

static void *reaper(void *unused) {
    int age = oldest();
    generation = age + 1;
    hits++;
    return unused;
}

int main(void) {
    pthread_t threads[4];
    pthread_create(&threads[0], 0, loader, 0);
    pthread_create(&threads[1], 0, reader, 0);
    pthread_create(&threads[2], 0, reader, 0);
    pthread_create(&threads[3], 0, reaper, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return generation > 100;
}
