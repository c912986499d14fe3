/* The creator waits for the one task that it needs. */
#include <stdio.h>
int main(void) {
  int x = 0, y = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp task depend(out : y) shared(y)
    y = 2;
#pragma omp taskwait depend(in : x)
    printf("%d\n", x);
#pragma omp taskwait
    printf("%d\n", y);
  }
}
