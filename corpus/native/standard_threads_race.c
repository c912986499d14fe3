// race: 20 20
// Threads, locks and conditions of C11: what is not protected by them races.
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static tss_t own;
static once_flag once = ONCE_FLAG_INIT;
static int ready, guarded, open_to_all;

static void prepare(void) {
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    tss_create(&own, NULL);
}

static int work(void *number) {
    call_once(&once, prepare);
    tss_set(own, number);
    open_to_all++;
    mtx_lock(&lock);
    guarded++;
    ready++;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return tss_get(own) == number ? 7 : 8;
}

int main(void) {
    thrd_t one, two;
    int first = 0, second = 0;
    call_once(&once, prepare);
    thrd_create(&one, work, &first);
    thrd_create(&two, work, &second);
    mtx_lock(&lock);
    while (ready < 2)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    thrd_join(one, &first);
    thrd_join(two, &second);
    return first != 7 || second != 7;
}
