/* Two iterations are led to the same element. */
#include <stdio.h>
int main(void) {
  static int a[32], at[32];
  for (int i = 0; i < 32; i++) at[i] = i;
  at[30] = 1;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 32; i++)
    a[at[i]] += i; // races
  printf("%d\n", a[1]);
}
