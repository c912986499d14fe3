// The counter is updated atomically.
#include <stdio.h>
int odd;
int main(void) {
#pragma omp parallel for schedule(guided) num_threads(3)
    for (int i = 0; i < 30; i++)
        if (i % 2) {
#pragma omp atomic
            odd++;
        }
    printf("%d\n", odd);
}
