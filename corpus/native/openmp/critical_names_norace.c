// The same name, and the nameless one for another variable.
#include <stdio.h>
int balance, count;
int main(void) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
#pragma omp critical(account)
            balance += 5;
#pragma omp critical
            count++;
        }
#pragma omp section
        {
#pragma omp critical(account)
            balance -= 3;
#pragma omp critical
            count++;
        }
    }
    printf("%d %d\n", balance, count);
}
