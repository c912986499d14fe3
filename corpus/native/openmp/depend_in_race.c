/* Both tasks only read what they depend on, and write another one. */
#include <stdio.h>
int main(void) {
  int x = 0, y = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp task depend(in : x) shared(x, y)
    y += x; // races
#pragma omp task depend(in : x) shared(x, y)
    y -= x; // races
  }
  printf("%d\n", y);
}
