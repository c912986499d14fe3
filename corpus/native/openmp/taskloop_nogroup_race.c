/* Nobody waits for the parts of the loop. */
#include <stdio.h>
int main(void) {
  static int a[16];
  int first = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop nogroup grainsize(4)
    for (int i = 0; i < 16; i++)
      a[i] = i; // races
    first = a[1] + a[9]; // races
  }
  printf("%d\n", first);
}
