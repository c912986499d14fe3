// The same loop with two arrays.
#include <stdio.h>
int a[64], b[64];
int main(void) {
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 63; i++)
        a[i] = b[i + 1] + 1;
    printf("%d\n", a[0]);
}
