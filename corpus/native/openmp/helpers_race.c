// A task that a helper of the library runs, and that nothing waits for before its result is read.
#include <stdio.h>

static int a = 1;

int main(void) {
#pragma omp target map(tofrom: a) nowait
    a += 4; // races
    printf("%d\n", a); // races
#pragma omp taskwait
    return a != 5;
}
