// Figure 2 of the RECIPE paper: with the first value of s1->f as well as with the second the sum is large enough, so the writes of s2->f
// race. The second thread sleeps, so that the first one is done in the recorded run.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct s {
    int f;
};

static struct s *s1, *s2;

static void *first(void *unused) {
    s1->f = 3;
    s2->f = 1; // e2
    s1->f = 2;
    return unused;
}

static void *second(void *unused) {
    usleep(1000);
    int x = 0;
    struct s *w = malloc(sizeof *w);
    w->f = 10;
    int z = w->f;
    int y = s1->f; // e8
    x = y + z;
    if (x > 11)
        s2->f = x; // e11
    free(w);
    return unused;
}

int main(void) {
    pthread_t one, two;
    s1 = malloc(sizeof *s1);
    s2 = malloc(sizeof *s2);
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    int sum = s1->f + s2->f;
    free(s1);
    free(s2);
    return sum == 0;
}
