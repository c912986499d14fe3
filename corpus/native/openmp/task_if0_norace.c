/* A task that is not deferred is done when its creator goes on. */
#include <stdio.h>
int main(void) {
  int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task if (0) shared(x)
    x = 1;
    x++;
#pragma omp task final(1) shared(x)
    x++;
#pragma omp taskwait
    x++;
  }
  printf("%d\n", x);
}
