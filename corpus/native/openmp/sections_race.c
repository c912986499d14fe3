// One section reads what another one writes.
#include <stdio.h>
int message, copy;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp sections
    {
#pragma omp section
        message = 4; // races
#pragma omp section
        copy = message; // races
    }
    printf("%d\n", copy);
}
