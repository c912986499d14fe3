/* A static variable in a function is one for all. */
#include <stdio.h>
static int step(int by) {
  static int total;
  total += by; // races
  return total; // races
}
int main(void) {
  static int out[10];
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 10; i++)
    out[i] = step(i);
  printf("%d\n", out[9]);
}
