/* Both loops are one, and its halves write what they share. */
#include <stdio.h>
int main(void) {
  static int a[9][9];
#pragma omp parallel for collapse(2) num_threads(2)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      a[i][j] = a[i + 1][j]; // races
  printf("%d\n", a[0][0]);
}
