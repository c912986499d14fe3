// A sum that is shared and not a reduction.
#include <stdio.h>
int main(void) {
    int sum = 0;
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 16; i++)
        sum += i; // races
    printf("%d\n", sum);
}
