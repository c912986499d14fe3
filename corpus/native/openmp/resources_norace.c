// Calls about threads, places and resources of the library between parallel regions, which begin anew after a pause.
#include <omp.h>
#include <stdlib.h>

static int sum, limit;

static void count(void) {
#pragma omp parallel num_threads(3)
    {
        char text[64];
        omp_capture_affinity(text, sizeof text, "%n %A");
#pragma omp atomic
        sum++;
    }
}

int main(void) {
    count();
    if (omp_pause_resource_all(omp_pause_soft) != 0)
        abort();
    count();
#pragma omp target thread_limit(2)
    limit = omp_get_thread_limit();
#pragma omp target parallel nowait thread_limit(2) num_threads(1)
    if (omp_get_thread_limit() > 2)
        abort();
#pragma omp taskwait
    return sum != 6 || limit > 2;
}
