// A group waits for all descendants.
#include <stdio.h>
int main(void) {
    int x = 0, y = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task shared(x, y)
            {
                x = 1;
#pragma omp task shared(y)
                y = 2;
            }
        }
        x += y;
    }
    printf("%d\n", x);
}
