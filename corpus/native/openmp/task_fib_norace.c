/* Each task waits for its children before it adds what they have found. */
#include <stdio.h>
static int fib(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(void) {
  int result;
#pragma omp parallel num_threads(2)
#pragma omp single
  result = fib(6);
  printf("%d\n", result);
}
