// A helper variable that should be private.
#include <stdio.h>
int a[20];
int main(void) {
    int helper;
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 20; i++) {
        helper = i * 2; // races
        a[i] = helper + 1; // races
    }
    printf("%d\n", a[4]);
}
