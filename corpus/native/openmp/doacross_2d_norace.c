/* Each cell waits for its neighbours above and to the left. */
#include <stdio.h>
int main(void) {
  static int a[6][6];
#pragma omp parallel for ordered(2) num_threads(2)
  for (int i = 1; i < 6; i++)
    for (int j = 1; j < 6; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      a[i][j] = a[i - 1][j] + a[i][j - 1] + 1;
#pragma omp ordered depend(source)
    }
  printf("%d\n", a[5][5]);
}
