/* All wait for the one who writes, and nobody for those who read before the next write. */
#include <stdio.h>
int main(void) {
  int x = 0, sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    for (int i = 0; i < 3; i++) {
#pragma omp single
      x = i; // races
      sum += x; // races
    }
  }
  printf("%d\n", sum);
}
