/* The task reads the variable of its creator, which goes on. */
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int i = 0;
    while (i < 4) {
#pragma omp task shared(i, sum)
      {
#pragma omp atomic
        sum += i; // races
      }
      i++; // races
    }
#pragma omp taskwait
  }
  printf("%d\n", sum);
}
