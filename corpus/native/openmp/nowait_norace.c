/* Loops with the same static schedule give the same iterations to the same threads. */
#include <stdio.h>
int main(void) {
  static int a[40], b[40];
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 40; i++)
      a[i] = i;
#pragma omp for schedule(static)
    for (int i = 0; i < 40; i++)
      b[i] = a[i];
  }
  printf("%d\n", b[9]);
}
