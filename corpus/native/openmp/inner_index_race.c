/* The index of the inner loop is one variable for all. */
#include <stdio.h>
static int a[8][8];
int main(void) {
  int i, j;
#pragma omp parallel for num_threads(2)
  for (i = 0; i < 8; i++)
    for (j = 0; j < 8; j++) // races
      a[i][j] = i; // races
  printf("%d\n", a[3][3]);
}
