/* Private variables of threads begin with that of the first. */
#include <stdio.h>
static int t;
#pragma omp threadprivate(t)
int main(void) {
  int sum = 0;
  t = 3;
#pragma omp parallel num_threads(2) copyin(t) reduction(+ : sum)
  {
    t++;
    sum += t;
  }
  printf("%d\n", sum);
}
