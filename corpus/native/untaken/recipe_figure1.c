// Figure 1 of RECIPE. One race lies on the way that was taken, whatever else y holds than what was read; the other one beside it.
// taken: 9 14, 9 15
// untaken: 9 17
#include <pthread.h>


int x, y, out;
static void *one(void *unused) {
    y = 3, x = 1, y = 5;
    return unused;
}

static void *two(void *unused) {
    if (y > 2)
        out = 1 / x;
    else
        out = 2 + x;
    return unused;
}

int main(void) {
    pthread_t a, b;
    x = 0, y = 0;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
