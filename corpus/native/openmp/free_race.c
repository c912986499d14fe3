/* A task may still use what its creator frees. */
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int *x = malloc(sizeof *x);
    *x = 3;
#pragma omp task firstprivate(x) shared(sum)
    sum += *x; // races
    free(x); // races
  }
  printf("%d\n", sum);
}
