/* A scope reduces into one. */
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp scope reduction(+ : sum)
    sum += 3;
  }
  printf("%d\n", sum);
}
