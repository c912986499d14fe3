// With a barrier behind the master region.
#include <omp.h>
#include <stdio.h>
int limit, sums[3];
int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp masked
        limit = 10;
#pragma omp barrier
        sums[omp_get_thread_num()] = limit * 2;
    }
    printf("%d\n", sums[1]);
}
