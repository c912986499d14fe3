// Each thread has its own copy, that copyin fills.
#include <stdio.h>
int counter = 5, total;
#pragma omp threadprivate(counter)
int main(void) {
#pragma omp parallel num_threads(3) copyin(counter)
    {
        counter++;
#pragma omp atomic
        total += counter;
    }
#pragma omp parallel num_threads(3)
    counter += 2;
    printf("%d %d\n", counter, total);
}
