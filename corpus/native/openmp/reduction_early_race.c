// With nowait, a thread reads the sum before the others have added to it.
#include <stdio.h>
int sum, seen[3];
#include <omp.h>
int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp for reduction(+ : sum) nowait // races
        for (int i = 0; i < 12; i++) sum += i;
        seen[omp_get_thread_num()] = sum; // races
    }
    printf("%d %d\n", sum, seen[0]);
}
