/* The inner regions of two threads write to one variable. */
#include <omp.h>
#include <stdio.h>
int main(void) {
  int x = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp critical(inner)
  {
    x++;
  }
  int y = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0)
      y = omp_get_ancestor_thread_num(1); // races
  }
  printf("%d %d\n", x, y);
}
