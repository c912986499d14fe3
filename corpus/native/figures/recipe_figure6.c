// Figure 6 of the RECIPE paper, a thread pool of five: how many threads are alive is read under one lock and raised under another. Thread 2
// takes the last two entries while Thread 1 sleeps, which then does not go the way on which it would raise the number, too.
#include <pthread.h>
#include <unistd.h>

enum { TOTAL = 5 };

struct task {
    int depth, sleeps;
};

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER, starting = PTHREAD_MUTEX_INITIALIZER;
static int alive = 1;
static struct task root = {0, 0}, first = {1, 1}, second = {1, 0}, leaf = {2, 0};

static int available(void) {
    pthread_mutex_lock(&counting);
    int entries = TOTAL - alive; // 1
    pthread_mutex_unlock(&counting);
    return entries;
}

static void *sorting(void *argument) {
    struct task *task = argument;
    pthread_t children[2];
    int started = 0;
    if (task->sleeps)
        usleep(1000);
    int entries = available();
    if (task->depth < 2) {
        if (entries == 1) {
            pthread_mutex_lock(&starting);
            alive++; // 5
            pthread_mutex_unlock(&starting);
            pthread_create(&children[started++], 0, sorting, &leaf);
        } else if (entries >= 2) {
            pthread_mutex_lock(&starting);
            alive++; // 9
            pthread_mutex_unlock(&starting);
            pthread_create(&children[started++], 0, sorting, task->depth == 0 ? &first : &leaf);
            pthread_mutex_lock(&starting);
            alive++; // 11
            pthread_mutex_unlock(&starting);
            pthread_create(&children[started++], 0, sorting, task->depth == 0 ? &second : &leaf);
        }
    }
    while (started > 0)
        pthread_join(children[--started], 0);
    return 0;
}

int main(void) {
    sorting(&root);
    return 0;
}
