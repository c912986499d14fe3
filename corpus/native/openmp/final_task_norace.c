// Tasks that are not deferred run where they are created.
#include <stdio.h>
int main(void) {
    int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task shared(x) if (0)
        x = 1;
        x++;
#pragma omp task shared(x) final(1)
        {
#pragma omp task shared(x)
            x += 2;
            x += 3;
        }
#pragma omp taskwait
        x++;
    }
    printf("%d\n", x);
}
