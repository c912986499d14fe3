// A loop of tasks with a shared sum.
#include <stdio.h>
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop shared(sum) num_tasks(6)
    for (int i = 0; i < 12; i++)
        sum += i; // races
    printf("%d\n", sum);
}
