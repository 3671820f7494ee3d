/* Preloaded behind the profiler: by this clock of MPI, a minute passes in a second. */
#include <time.h>

double PMPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 60 * ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
}
