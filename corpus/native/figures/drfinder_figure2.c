// Figure 2 of the DrFinder paper: the order in which k and n are usually taken hides the races of x and y. The second and the third
// thread work for a while before they take n and k, so the first one takes both first under nearly any schedule.
#include <pthread.h>

static pthread_mutex_t k = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t o1 = PTHREAD_MUTEX_INITIALIZER, o2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t o3 = PTHREAD_MUTEX_INITIALIZER, o4 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t o5 = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

enum { ROUNDS = 12 };

static void f2(void) {
    pthread_mutex_lock(&o1); // e2
    y = 1;                   // m2
    pthread_mutex_lock(&n);  // e3
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&o1);
}

static void f1(void) {
    x = 1;                  // m1
    pthread_mutex_lock(&k); // e1
    pthread_mutex_unlock(&k);
    f2();
}

static void f5(void) {
    pthread_mutex_lock(&n); // e6
    pthread_mutex_unlock(&n);
    y = 2; // m3
}

static void f4(void) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&o2); // e4
        pthread_mutex_unlock(&o2);
        pthread_mutex_lock(&o3); // e5
        pthread_mutex_unlock(&o3);
    }
    f5();
}

static void f3(void) { f4(); }

static void f8(void) {
    pthread_mutex_lock(&k); // e9
    pthread_mutex_unlock(&k);
    x = 2; // m4
}

static void f7(void) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&o4); // e7
        pthread_mutex_unlock(&o4);
        pthread_mutex_lock(&o5); // e8
        pthread_mutex_unlock(&o5);
    }
    f8();
}

static void f6(void) { f7(); }

static void *t1(void *unused) {
    f1();
    return unused;
}

static void *t2(void *unused) {
    f3();
    return unused;
}

static void *t3(void *unused) {
    f6();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, t1, 0);
    pthread_create(&threads[1], 0, t2, 0);
    pthread_create(&threads[2], 0, t3, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
