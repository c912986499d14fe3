/* Each lane writes what the next iteration of another thread reads. */
#include <stdio.h>
int main(void) {
  static int a[64];
#pragma omp parallel for simd num_threads(2)
  for (int i = 0; i < 63; i++)
    a[i] = a[i + 1] + 1; // races
  printf("%d\n", a[0]);
}
