/* Tasks that may go on elsewhere keep what they have. */
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 4; i++) {
#pragma omp task untied firstprivate(i) shared(sum)
    {
      int mine = i;
#pragma omp taskyield
      mine++;
#pragma omp atomic
      sum += mine;
    }
  }
  printf("%d\n", sum);
}
