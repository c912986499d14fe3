// Tasks that helpers of the library run beside the only thread of a team, which waits for them at barriers and at the end
// of its region.
#include <stdlib.h>

static int a = 1, b = 2, c = 3;

int main(void) {
#pragma omp target map(tofrom: a) nowait
    a += 4;
#pragma omp target map(tofrom: b) nowait
    b += 8;
#pragma omp barrier
    if (a != 5 || b != 10)
        abort();
#pragma omp parallel num_threads(1)
    {
#pragma omp target map(tofrom: a) nowait
        a += 16;
#pragma omp barrier
        b += a;
#pragma omp target map(tofrom: c) nowait
        c += a;
    }
    return a != 21 || b != 31 || c != 24;
}
