// A loop whose iterations read what their neighbours write.
#include <stdio.h>
int a[64];
int main(void) {
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 63; i++)
        a[i] = a[i + 1] + 1; // races
    printf("%d\n", a[0]);
}
