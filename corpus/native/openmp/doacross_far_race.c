// Each iteration waits for the second one before it, but reads what the last one has written.
#include <stdio.h>
int a[16];
int main(void) {
#pragma omp parallel for ordered(1) num_threads(3) schedule(static, 1)
    for (int i = 2; i < 16; i++) {
#pragma omp ordered depend(sink : i - 2)
        a[i] = a[i - 1] + 1; // races
#pragma omp ordered depend(source)
    }
    printf("%d\n", a[15]);
}
