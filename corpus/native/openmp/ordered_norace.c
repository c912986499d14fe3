// What stands in an ordered region happens in the order of the iterations.
#include <stdio.h>
int last = -1, breaks;
int main(void) {
#pragma omp parallel for ordered schedule(dynamic) num_threads(3)
    for (int i = 0; i < 12; i++) {
        int square = i * i;
#pragma omp ordered
        {
            if (last > square) breaks++;
            last = square;
        }
    }
    printf("%d %d\n", last, breaks);
}
