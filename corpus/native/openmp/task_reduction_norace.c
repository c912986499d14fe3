/* Tasks of a group reduce into one. */
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < 6; i++)
#pragma omp task in_reduction(+ : sum)
    sum += i;
  printf("%d\n", sum);
}
