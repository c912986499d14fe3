/* Each thread has its own copy with the value from before. */
#include <stdio.h>
int main(void) {
  int x = 5, out[2] = {0};
#pragma omp parallel num_threads(2) firstprivate(x)
#pragma omp for
  for (int i = 0; i < 2; i++) {
    x += i;
    out[i] = x;
  }
  printf("%d %d\n", out[0], out[1]);
}
