// One place reads plainly what others update atomically.
#include <stdio.h>
int count, seen;
int main(void) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
#pragma omp atomic
            count++; // races
        }
#pragma omp section
        seen = count; // races
    }
    printf("%d %d\n", count, seen);
}
