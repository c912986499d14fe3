// The parent uses the results of its tasks without waiting for them.
#include <stdio.h>
int main(void) {
    int left = 0, right = 0, sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task shared(left)
        left = 3; // races
#pragma omp task shared(right)
        right = 4; // races
        sum = left + right; // races
    }
    printf("%d\n", sum);
}
