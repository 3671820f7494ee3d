/* Preloaded behind the profiler: makes MPI's clock run a minute in each second. */
#include <time.h>

double PMPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 60 * ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
}
