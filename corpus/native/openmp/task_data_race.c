/* Recursive tasks add to one variable. */
#include <stdio.h>
static int count;
static void visit(int depth) {
  if (depth == 0) {
    count++; // races
    return;
  }
#pragma omp task
  visit(depth - 1);
#pragma omp task
  visit(depth - 1);
}
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  visit(3);
  printf("%d\n", count);
}
