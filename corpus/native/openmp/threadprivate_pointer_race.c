/* The variable is private, what it points to is not. */
#include <stdio.h>
static int shared_data, *t;
#pragma omp threadprivate(t)
int main(void) {
#pragma omp parallel num_threads(2)
  {
    t = &shared_data;
    *t += 1; // races
  }
  printf("%d\n", shared_data);
}
