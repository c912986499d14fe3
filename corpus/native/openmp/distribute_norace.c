/* Teams and their threads have elements of their own. */
#include <stdio.h>
int main(void) {
  static int a[64];
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(2) map(tofrom : a)
  for (int i = 0; i < 64; i++)
    a[i] = i;
  printf("%d\n", a[63]);
}
