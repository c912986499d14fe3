/* Data is published by an atomic write with release, and read after an acquire. */
#include <stdio.h>
int main(void) {
  int data = 0, flag = 0, seen = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    {
      data = 1;
#pragma omp atomic write release
      flag = 1;
    }
    int is_there;
#pragma omp atomic read acquire
    is_there = flag;
    if (is_there) {
      int mine = data;
#pragma omp atomic write
      seen = mine;
    }
  }
  printf("%d\n", seen);
}
