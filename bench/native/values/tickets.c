// Who buys a ticket says first who he is, and gets a number under a lock. The office looks at what was said while there are seats, and makes a list of
// those who wait when there are none.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t counter = PTHREAD_MUTEX_INITIALIZER;
static struct {
    long next;
    int name, price, waiting;
} office = {1, 0, 0, 0};
static volatile int seen;

static void *buy(void *argument) {
    office.name = *(int *)argument;
    office.price = 10 * *(int *)argument;
    pthread_mutex_lock(&counter);
    office.next++;
    pthread_mutex_unlock(&counter);
    return 0;
}

static void *serve(void *unused) {
    usleep(1000);
    pthread_mutex_lock(&counter);
    long number = office.next;
    pthread_mutex_unlock(&counter);
    if (number <= 10) {
        seen = office.name;
        if (office.price > 0)
            office.price--;
    } else {
        office.waiting = office.name;
    }
    return 0;
}

static void *call(void *unused) {
    seen = office.waiting;
    return 0;
}

int main(void) {
    pthread_t threads[4];
    static int who[2] = {1, 2};
    pthread_create(&threads[0], 0, buy, &who[0]);
    pthread_create(&threads[1], 0, buy, &who[1]);
    pthread_create(&threads[2], 0, serve, 0);
    pthread_create(&threads[3], 0, call, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
