/* The creator waits for another task than the one that it needs. */
#include <stdio.h>
int main(void) {
  int x = 0, y = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp task depend(out : y) shared(y)
    y = 2; // races
#pragma omp taskwait depend(in : x)
    printf("%d\n", y); // races
  }
}
