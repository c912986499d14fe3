// Teams have no barrier and no lock in common.
#include <stdio.h>
int hits;
int main(void) {
#pragma omp teams num_teams(2) thread_limit(2)
    {
#pragma omp distribute
        for (int i = 0; i < 8; i++)
            hits += i; // races
    }
    printf("%d\n", hits);
}
