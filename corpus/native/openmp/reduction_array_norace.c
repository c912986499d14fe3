/* Each thread has its own copy of the array. */
#include <stdio.h>
int main(void) {
  int a[4] = {0};
#pragma omp parallel for num_threads(2) reduction(+ : a[:4])
  for (int i = 0; i < 40; i++)
    a[i % 4] += i;
  printf("%d\n", a[0] + a[3]);
}
