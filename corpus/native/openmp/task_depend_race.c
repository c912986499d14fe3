// The second reader is not named among those that depend on the variable.
#include <stdio.h>
int main(void) {
    int a = 0, b = 0, c = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
#pragma omp task shared(a) depend(out : a)
        a = 1; // races
#pragma omp task shared(a, b) depend(in : a) depend(out : b)
        b = a + 1;
#pragma omp task shared(a, c) depend(out : c)
        c = a + 2; // races
    }
    printf("%d %d %d\n", a, b, c);
}
