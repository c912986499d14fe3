/* Nobody waits for the masked part. */
#include <stdio.h>
int main(void) {
  int x = 0, y[2] = {0};
#pragma omp parallel num_threads(2)
  {
#pragma omp masked
    x = 1; // races
#pragma omp for
    for (int i = 0; i < 2; i++)
      y[i] = x; // races
  }
  printf("%d\n", y[0]);
}
