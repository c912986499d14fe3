/* A flush orders no plain accesses of others. */
#include <stdio.h>
int main(void) {
  int data = 0, flag = 0, seen = 0;
#pragma omp parallel sections num_threads(2) shared(data, flag, seen)
  {
#pragma omp section
    {
      data = 1; // races
#pragma omp flush
      flag = 1; // races
    }
#pragma omp section
    {
#pragma omp flush
      if (flag) // races
        seen = data; // races
    }
  }
  printf("%d\n", seen);
}
