/* All are led to elements of their own. */
#include <stdio.h>
int main(void) {
  static int a[32], at[32];
  for (int i = 0; i < 32; i++) at[i] = (i * 5) % 32;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 32; i++)
    a[at[i]] += i;
  printf("%d\n", a[1]);
}
