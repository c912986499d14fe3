/* The teams of a device are threads of this machine if there is none. */
#include <stdio.h>
int main(void) {
  int a[64], x = 0;
  for (int i = 0; i < 64; i++) a[i] = i;
#pragma omp target map(tofrom : a, x)
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 64; i++)
    x += a[i]; // races
  printf("%d\n", x);
}
