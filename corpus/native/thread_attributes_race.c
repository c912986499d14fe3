// race: 66 66
// What threads ask about themselves and each other, and what they keep for themselves, orders nothing.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

static pthread_key_t key;
static int counter;

static void clean(void *unused) {
    (void)unused;
}

static void ask_about_attributes(void) {
    pthread_attr_t about;
    size_t bytes;
    void *start;
    int number;
    struct sched_param priority;
    pthread_attr_init(&about);
    pthread_attr_setstacksize(&about, 1 << 20);
    pthread_attr_getstacksize(&about, &bytes);
    pthread_attr_getguardsize(&about, &bytes);
    pthread_attr_getstack(&about, &start, &bytes);
    pthread_attr_getdetachstate(&about, &number);
    pthread_attr_getscope(&about, &number);
    pthread_attr_getschedparam(&about, &priority);
    pthread_attr_destroy(&about);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_getrobust(&kind, &number);
    pthread_mutexattr_gettype(&kind, &number);
    pthread_mutexattr_destroy(&kind);
    if (number < 0 || bytes == 0)
        abort();
}

static void *work(void *name) {
    int number, policy;
    struct sched_param priority;
    sigset_t none, before;
    clockid_t clock;
    cpu_set_t processors;
    pthread_setname_np(pthread_self(), name);
    pthread_setspecific(key, name);
    ask_about_attributes();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &number);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &number);
    pthread_testcancel();
    sigemptyset(&none);
    pthread_sigmask(SIG_BLOCK, &none, &before);
    pthread_getschedparam(pthread_self(), &policy, &priority);
    pthread_getcpuclockid(pthread_self(), &clock);
    pthread_getaffinity_np(pthread_self(), sizeof processors, &processors);
    sched_getparam(0, &priority);
    if (sched_get_priority_max(policy) < 0 || sched_getcpu() < 0)
        abort();
    pthread_cleanup_push(clean, NULL);
    if (pthread_getspecific(key) != name)
        abort();
    pthread_cleanup_pop(1);
    counter++;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_key_create(&key, NULL);
    pthread_create(&one, NULL, work, "one");
    pthread_create(&two, NULL, work, "two");
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    pthread_key_delete(key);
    return 0;
}
