// Each iteration waits for the one before.
#include <stdio.h>
int a[16];
int main(void) {
#pragma omp parallel for ordered(1) num_threads(3) schedule(static, 1)
    for (int i = 1; i < 16; i++) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    printf("%d\n", a[15]);
}
