// Each iteration of a dynamic loop has its own element; a variable of each thread counts them.
#include <stdio.h>
int a[40], total;
int main(void) {
#pragma omp parallel num_threads(3)
    {
        int own = 0;
#pragma omp for schedule(dynamic, 2)
        for (int i = 0; i < 40; i++) {
            a[i] = i;
            own++;
        }
#pragma omp atomic
        total += own;
    }
    printf("%d %d\n", a[3], total);
}
