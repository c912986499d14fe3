// Tasks that exclude each other by their dependence.
#include <stdio.h>
int main(void) {
    int a = 1, b = 2, sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task shared(a) depend(out : a)
        a = 3;
#pragma omp task shared(a, sum) depend(in : a) depend(mutexinoutset : sum)
        sum += a;
#pragma omp task shared(b, sum) depend(mutexinoutset : sum)
        sum += b;
#pragma omp task shared(sum) depend(in : sum)
        printf("%d\n", sum);
    }
}
