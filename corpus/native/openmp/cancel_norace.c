/* The search is called off when one has found it; what was found is under a lock. */
#include <stdio.h>
int main(void) {
  int found = -1;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 50; i++) {
#pragma omp cancellation point for
    if (i == 17) {
#pragma omp critical
      found = i;
#pragma omp cancel for
    }
  }
  printf("%d\n", found);
}
