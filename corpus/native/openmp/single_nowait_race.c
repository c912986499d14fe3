// The others do not wait for the one that sets the value.
#include <stdio.h>
int value, copy[4];
#include <omp.h>
int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp single nowait
        value = 7; // races
        copy[omp_get_thread_num()] = value; // races
    }
    printf("%d\n", copy[0]);
}
