/* The search is called off, but more than one may have found it. */
#include <stdio.h>
int main(void) {
  int found = -1;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 50; i++) {
    if (i % 5 == 4) {
      found = i; // races
#pragma omp cancel for
    }
  }
  printf("%d\n", found);
}
