/* The number is updated atomically, and read again without. */
#include <stdio.h>
int main(void) {
  static int seen[20];
  int next = 0;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 10; i++) {
#pragma omp atomic
    next++; // races
    seen[next % 20] = i; // races
  }
  printf("%d\n", seen[3]);
}
