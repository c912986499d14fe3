// One of the two places forgets the lock.
#include <omp.h>
#include <stdio.h>
int main(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    int stock = 10;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            omp_set_lock(&lock);
            stock -= 2; // races
            omp_unset_lock(&lock);
        }
#pragma omp section
        stock += 5; // races
    }
    omp_destroy_lock(&lock);
    printf("%d\n", stock);
}
