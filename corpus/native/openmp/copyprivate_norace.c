/* One thread hands what it has to the copies of all. */
#include <stdio.h>
int main(void) {
  int x = 0, sum = 0;
#pragma omp parallel num_threads(2) firstprivate(x) reduction(+ : sum)
  {
#pragma omp single copyprivate(x)
    x = 7;
    sum += x;
  }
  printf("%d\n", sum);
}
