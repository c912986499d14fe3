// Two critical sections with different names exclude nothing from each other.
#include <stdio.h>
int balance;
int main(void) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
#pragma omp critical(deposit)
            balance += 5; // races
        }
#pragma omp section
        {
#pragma omp critical(withdraw)
            balance -= 3; // races
        }
    }
    printf("%d\n", balance);
}
