/* The last value is kept by hand, by whoever comes last. */
#include <stdio.h>
int main(void) {
  int last = 0;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 10; i++)
    last = i; // races
  printf("%d\n", last);
}
