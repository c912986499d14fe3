/* All of the body is in order. */
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp parallel for ordered num_threads(2) schedule(dynamic)
  for (int i = 0; i < 8; i++) {
#pragma omp ordered
    sum = sum * 2 + i;
  }
  printf("%d\n", sum);
}
