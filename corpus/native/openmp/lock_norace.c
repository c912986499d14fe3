// Simple, nested and tried locks.
#include <omp.h>
#include <stdio.h>
omp_lock_t lock;
omp_nest_lock_t nest;
int stock = 10, depth, tries;
static void descend(int levels) {
    omp_set_nest_lock(&nest);
    depth += levels;
    if (levels > 0) descend(levels - 1);
    omp_unset_nest_lock(&nest);
}
int main(void) {
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(3)
    {
        while (!omp_test_lock(&lock)) {
#pragma omp atomic
            tries++;
        }
        stock -= 2;
        omp_unset_lock(&lock);
        descend(2);
        omp_set_lock(&lock);
        stock += 1;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("%d %d\n", stock, depth);
}
