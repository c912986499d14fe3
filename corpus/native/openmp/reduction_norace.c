// Reductions of several kinds, of variables and of an array.
#include <stdio.h>
int main(void) {
    int sum = 0, most = 0, hits[4] = {0};
    double product = 1;
#pragma omp parallel for num_threads(3) reduction(+ : sum, hits[:4]) reduction(max : most) reduction(* : product)
    for (int i = 1; i < 32; i++) {
        sum += i;
        hits[i % 4]++;
        product *= 1.0 + 1.0 / i;
        if (i * 7 % 32 > most) most = i * 7 % 32;
    }
    printf("%d %d %.2f %d\n", sum, most, product, hits[1]);
}
