/* The loop may be run in any order. */
#include <stdio.h>
int main(void) {
  static int a[33];
#pragma omp parallel num_threads(2)
#pragma omp loop
  for (int i = 0; i < 32; i++)
    a[i + 1] = a[i] + 1; // races
  printf("%d\n", a[32]);
}
