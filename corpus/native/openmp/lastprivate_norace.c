// firstprivate and lastprivate variables.
#include <stdio.h>
int a[20];
int main(void) {
    int start = 3, last = 0;
#pragma omp parallel for num_threads(2) firstprivate(start) lastprivate(last)
    for (int i = 0; i < 20; i++) {
        start += i;
        last = i;
        a[i] = start;
    }
    printf("%d %d\n", last, a[0]);
}
