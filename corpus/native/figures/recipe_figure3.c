// Figure 3 of the RECIPE paper: which object the second thread reads from depends on when it reads y. With the first object, or with none, it
// does not read what the first thread writes. The second thread sleeps, so that the first one is done in the recorded run.
#include <pthread.h>
#include <unistd.h>

struct o {
    int f;
};

static struct o o1, o2, *y = &o1;

static void *first(void *unused) {
    y = &o1;
    o2.f = 4; // unpublished
    y = &o2;
    o2.f = 5; // published
    return unused;
}

static void *second(void *unused) {
    usleep(1000);
    struct o *z = y;
    int w = z->f; // read
    return w == 0 ? z : unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
