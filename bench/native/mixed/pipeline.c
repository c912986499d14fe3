// Three stages with a slot between each two. Progress is told in variables that have no lock, and each stage sums up for itself.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int items;

static struct slot {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int full, item, passed;
} first = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0},
  second = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static int made, changed, stored;     // progress
static int checksum;                  // of all stages, roughly
static int quality = 3;               // may be turned down
static pthread_mutex_t totals = PTHREAD_MUTEX_INITIALIZER;
static int bytes, rounds;

static void put(struct slot *slot, int item) {
    pthread_mutex_lock(&slot->lock);
    while (slot->full) pthread_cond_wait(&slot->changed, &slot->lock);
    slot->item = item;
    slot->full = 1;
    slot->passed++;
    pthread_cond_broadcast(&slot->changed);
    pthread_mutex_unlock(&slot->lock);
}

static int take(struct slot *slot) {
    pthread_mutex_lock(&slot->lock);
    while (!slot->full) pthread_cond_wait(&slot->changed, &slot->lock);
    int item = slot->item;
    slot->full = 0;
    pthread_cond_broadcast(&slot->changed);
    pthread_mutex_unlock(&slot->lock);
    return item;
}

static void account(int size) {
    pthread_mutex_lock(&totals);
    bytes += size;
    rounds++;
    pthread_mutex_unlock(&totals);
}

static void *maker(void *unused) {
    for (int i = 0; i < items; i++) {
        made = i;
        account(4);
        put(&first, i);
        checksum += i;
    }
    quality = 1;
    return unused;
}

static void *changer(void *unused) {
    for (int i = 0; i < items; i++) {
        int item = take(&first);
        for (int step = 0; step < quality; step++) item = item * 3 % 1000;
        changed++;
        account(8);
        put(&second, item);
    }
    return unused;
}

static void *keeper(void *unused) {
    int sum = 0;
    for (int i = 0; i < items; i++) {
        sum += take(&second);
        stored = i;
        account(2);
        if (made - stored > items) checksum = -1;
    }
    checksum += sum;
    return unused;
}

int main(int argc, char **argv) {
    pthread_t stages[3];
    items = argc > 1 ? atoi(argv[1]) : 3;
    pthread_create(&stages[0], NULL, maker, NULL);
    pthread_create(&stages[1], NULL, changer, NULL);
    pthread_create(&stages[2], NULL, keeper, NULL);
    int early = made + changed + stored;
    for (int i = 0; i < 3; i++) pthread_join(stages[i], NULL);
    printf("%d bytes in %d rounds, checksum %d, %d early\n", bytes, rounds, checksum, early);
    return 0;
}
