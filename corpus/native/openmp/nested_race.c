// Inner regions of two threads share a counter.
#include <omp.h>
#include <stdio.h>
int count;
int main(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        count++; // races
    }
    printf("%d\n", count);
}
