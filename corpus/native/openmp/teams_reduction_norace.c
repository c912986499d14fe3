/* Teams reduce into one. */
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp target teams distribute parallel for num_teams(2) reduction(+ : sum) map(tofrom : sum)
  for (int i = 0; i < 64; i++)
    sum += i;
  printf("%d\n", sum);
}
