/* Sections write to places of their own. */
#include <stdio.h>
int main(void) {
  int a = 0, b = 0, c = 0;
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    a = 1;
#pragma omp section
    b = 2;
#pragma omp section
    c = 3;
  }
  printf("%d\n", a + b + c);
}
