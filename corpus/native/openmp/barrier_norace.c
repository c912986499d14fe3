// An explicit barrier between the two phases, and many rounds.
#include <omp.h>
#include <stdio.h>
int a[3], b[3];
int main(void) {
#pragma omp parallel num_threads(3)
    for (int round = 0; round < 6; round++) {
        int me = omp_get_thread_num();
        a[me] = round + b[me];
#pragma omp barrier
        b[me] = a[(me + 1) % 3];
#pragma omp barrier
    }
    printf("%d\n", b[2]);
}
