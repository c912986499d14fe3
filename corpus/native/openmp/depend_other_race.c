/* The tasks name different variables, so they are not ordered. */
#include <stdio.h>
int main(void) {
  int x = 0, a, b;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : a) shared(x)
    x = 1; // races
#pragma omp task depend(out : b) shared(x)
    x = 2; // races
  }
  printf("%d\n", x);
}
