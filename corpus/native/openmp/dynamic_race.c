// Two iterations of a dynamic loop write the same element.
#include <stdio.h>
int a[40];
int main(void) {
#pragma omp parallel for schedule(dynamic) num_threads(3)
    for (int i = 0; i < 40; i++)
        a[i % 20] = i; // races
    printf("%d\n", a[3]);
}
