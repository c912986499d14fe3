/* Nested locks may be taken twice by their holder. */
#include <omp.h>
#include <stdio.h>
static omp_nest_lock_t lock;
static int x;
static void add(int by) {
  omp_set_nest_lock(&lock);
  x += by;
  omp_unset_nest_lock(&lock);
}
int main(void) {
  omp_init_nest_lock(&lock);
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 6; i++) {
    omp_set_nest_lock(&lock);
    add(i);
    x++;
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
  printf("%d\n", x);
}
