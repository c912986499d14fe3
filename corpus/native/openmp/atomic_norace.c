// Atomic updates, captures, reads and writes.
#include <stdio.h>
int ticket, flag;
double sum;
int slots[16];
int main(void) {
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 12; i++) {
        int mine, seen;
#pragma omp atomic capture
        mine = ticket++;
        slots[mine] = i;
#pragma omp atomic
        sum += 0.5;
#pragma omp atomic write
        flag = i;
#pragma omp atomic read
        seen = flag;
        slots[mine] += seen - seen;
    }
    printf("%d %.1f\n", ticket, sum);
}
