/* Lanes and threads have elements of their own. */
#include <stdio.h>
int main(void) {
  static int a[64], b[64];
  int sum = 0;
#pragma omp parallel for simd num_threads(2) reduction(+ : sum)
  for (int i = 0; i < 64; i++) {
    a[i] = b[i] + i;
    sum += a[i];
  }
  printf("%d\n", sum);
}
