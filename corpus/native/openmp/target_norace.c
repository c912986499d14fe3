// Without a device, target regions run on the host.
#include <stdio.h>
int a[32];
int main(void) {
    int sum = 0;
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(2) map(tofrom : a)
    for (int i = 0; i < 32; i++) a[i] = i;
#pragma omp target parallel for num_threads(2) reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < 32; i++) sum += a[i];
    printf("%d\n", sum);
}
