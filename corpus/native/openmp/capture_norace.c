/* Who captures a number has it alone. */
#include <stdio.h>
int main(void) {
  static int seen[20];
  int next = 0;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 20; i++) {
    int mine;
#pragma omp atomic capture
    mine = next++;
    seen[mine] = i;
  }
  printf("%d\n", seen[3]);
}
