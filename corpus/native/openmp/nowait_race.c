/* The second loop reads what another thread has yet to write in the first. */
#include <stdio.h>
int main(void) {
  static int a[40], b[40];
#pragma omp parallel num_threads(2)
  {
#pragma omp for nowait
    for (int i = 0; i < 40; i++)
      a[i] = i; // races
#pragma omp for
    for (int i = 0; i < 40; i++)
      b[i] = a[39 - i]; // races
  }
  printf("%d\n", b[0]);
}
