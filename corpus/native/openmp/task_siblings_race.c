// Two tasks of the same parent write the same variable.
#include <stdio.h>
int main(void) {
    int last = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task shared(last)
        last = 1; // races
#pragma omp task shared(last)
        last = 2; // races
#pragma omp taskwait
    }
    printf("%d\n", last);
}
