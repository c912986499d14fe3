// A guided loop with a counter that nothing protects.
#include <stdio.h>
int odd;
int main(void) {
#pragma omp parallel for schedule(guided) num_threads(3)
    for (int i = 0; i < 30; i++)
        if (i % 2) odd++; // races
    printf("%d\n", odd);
}
