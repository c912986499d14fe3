// Regions one after the other: the end of a region waits for all its threads.
#include <stdio.h>
int a[12], sum;
static void fill(int from) {
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 12; i++) a[i] = from + i;
}
int main(void) {
    for (int round = 0; round < 4; round++) {
        fill(round);
        for (int i = 0; i < 12; i++) sum += a[i];
    }
    printf("%d\n", sum);
}
