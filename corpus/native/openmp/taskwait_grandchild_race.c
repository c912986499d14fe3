// taskwait waits for children, and not for theirs.
#include <stdio.h>
int main(void) {
    int x = 0, y = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp task shared(x, y)
        {
            x = 1;
#pragma omp task shared(y)
            y = 2; // races
        }
#pragma omp taskwait
        x += y; // races
    }
    printf("%d\n", x);
}
