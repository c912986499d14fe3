/* Nobody waits for the sections before the loop reads. */
#include <stdio.h>
int main(void) {
  int a = 0, b = 0, s[2] = {0};
#pragma omp parallel num_threads(2)
  {
#pragma omp sections nowait
    {
#pragma omp section
      a = 1; // races
#pragma omp section
      b = 2; // races
    }
#pragma omp for
    for (int i = 0; i < 2; i++)
      s[i] = a + b; // races
  }
  printf("%d\n", s[0] + s[1]);
}
