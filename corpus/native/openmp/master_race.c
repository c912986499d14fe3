// A master region has no barrier at its end.
#include <omp.h>
#include <stdio.h>
int limit, sums[3];
int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp master
        limit = 10; // races
        sums[omp_get_thread_num()] = limit * 2; // races
    }
    printf("%d\n", sums[1]);
}
