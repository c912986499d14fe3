/* A task ends when its event comes, which another thread brings about. */
#include <omp.h>
#include <stdio.h>
int main(void) {
  int x = 0;
  omp_event_handle_t event;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task detach(event) depend(out : x) shared(x)
    x = 1;
#pragma omp task firstprivate(event)
    omp_fulfill_event(event);
#pragma omp task depend(in : x) shared(x)
    printf("%d\n", x);
  }
}
