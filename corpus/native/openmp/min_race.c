/* The minimum is looked at outside the critical section. */
#include <stdio.h>
int main(void) {
  int a[30], low = 1000;
  for (int i = 0; i < 30; i++) a[i] = (i * 7) % 30;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 30; i++)
    if (a[i] < low) // races
#pragma omp critical
      if (a[i] < low)
        low = a[i]; // races
  printf("%d\n", low);
}
