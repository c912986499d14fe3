// With nowait the second loop reads what the first one still writes.
#include <stdio.h>
int a[24], b[24];
int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp for nowait
        for (int i = 0; i < 24; i++) a[i] = i * i; // races
#pragma omp for schedule(static, 1)
        for (int i = 0; i < 24; i++) b[i] = a[23 - i]; // races
    }
    printf("%d\n", b[2]);
}
