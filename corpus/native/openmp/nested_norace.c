// Inner regions of two threads have their own rows.
#include <omp.h>
#include <stdio.h>
int rows[2][2], sums[2];
int main(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
        rows[outer][omp_get_thread_num()] = outer + 1;
        sums[outer] = rows[outer][0] + rows[outer][1];
    }
    printf("%d\n", sums[0] + sums[1]);
}
