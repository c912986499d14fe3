// A part of the update is outside of the ordered region.
#include <stdio.h>
int last, total;
int main(void) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(3)
    for (int i = 0; i < 12; i++) {
        total += i; // races
#pragma omp ordered
        last = i;
    }
    printf("%d %d\n", last, total);
}
