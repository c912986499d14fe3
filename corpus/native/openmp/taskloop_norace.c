// Loops of tasks: one by elements, one with a reduction.
#include <stdio.h>
int a[16];
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp taskloop grainsize(3)
        for (int i = 0; i < 16; i++) a[i] = i;
#pragma omp taskloop reduction(+ : sum) num_tasks(4)
        for (int i = 0; i < 16; i++) sum += a[i];
    }
    printf("%d\n", sum);
}
