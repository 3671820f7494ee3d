/* marked_ranks: marks a region on all ranks and another one on the last rank alone, and on the last two ranks
 * the end of a region that never began. Every rank is busy for about a fifth of a second. The first rank
 * switches recording off for a moment, so that the log does not have its migrations of the whole run. */
#include <mpi.h>
#include <time.h>

#include "iolens.h"

static void be_busy(void)
{
    clock_t begin = clock();
    while (clock() - begin < CLOCKS_PER_SEC / 5)
        ;
}

int main(int count, char **argument)
{
    int rank, ranks;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i <= rank; i++) {
        iolens_region_begin(1, "all");
        iolens_region_begin(2, "inner");
        iolens_region_end(2);
        iolens_region_end(1);
    }
    if (rank == ranks - 1) {
        iolens_region_begin(3, "own");
        iolens_region_end(3);
    }
    if (rank >= ranks - 2)
        iolens_region_end(90 + rank);
    be_busy();
    iolens_record(rank > 0);
    iolens_record(1);
    MPI_Finalize();
    return 0;
}
