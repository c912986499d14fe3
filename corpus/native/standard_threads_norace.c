// Threads of C11 with all their ways to wait for each other.
#include <threads.h>
#include <time.h>

static mtx_t lock, timed;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t own;
static int ready, sum, made, destroyed;

static void destroy(void *kept) {
    mtx_lock(&lock);
    destroyed += *(int *)kept;
    mtx_unlock(&lock);
}

static void prepare(void) {
    made++;
    tss_create(&own, destroy);
}

static struct timespec soon(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    time.tv_sec += 20;
    return time;
}

static int work(void *number) {
    call_once(&once, prepare);
    tss_set(own, number);
    struct timespec time = soon();
    while (mtx_timedlock(&timed, &time) != thrd_success)
        thrd_yield();
    sum += *(int *)number + made;
    mtx_unlock(&timed);
    while (mtx_trylock(&lock) == thrd_busy)
        thrd_yield();
    ready++;
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    thrd_exit(*(int *)number);
}

int main(void) {
    static int numbers[2] = {1, 2};
    thrd_t threads[2];
    int total = 0;
    mtx_init(&lock, mtx_plain | mtx_recursive);
    mtx_init(&timed, mtx_timed);
    cnd_init(&changed);
    for (int i = 0; i < 2; i++)
        thrd_create(&threads[i], work, &numbers[i]);
    mtx_lock(&lock);
    struct timespec time = soon();
    while (ready < 2)
        cnd_timedwait(&changed, &lock, &time);
    mtx_unlock(&lock);
    mtx_lock(&timed);
    total = sum;
    mtx_unlock(&timed);
    for (int i = 0; i < 2; i++) {
        int result;
        thrd_join(threads[i], &result);
        total += result;
    }
    thrd_sleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    cnd_destroy(&changed);
    mtx_destroy(&lock);
    return total != 8 || destroyed != 3;
}
