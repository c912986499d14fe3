/* The parts of a loop reduce into one. */
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop reduction(+ : sum) grainsize(2)
  for (int i = 0; i < 12; i++)
    sum += i;
  printf("%d\n", sum);
}
