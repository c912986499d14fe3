// The end of a single is a barrier; copyprivate hands a private value on.
#include <omp.h>
#include <stdio.h>
int value, copy[3];
int main(void) {
    int own = 0;
#pragma omp parallel num_threads(3) firstprivate(own)
    {
#pragma omp single
        value = 7;
#pragma omp single copyprivate(own)
        own = value + 1;
        copy[omp_get_thread_num()] = value + own;
    }
    printf("%d %d\n", copy[0], copy[2]);
}
