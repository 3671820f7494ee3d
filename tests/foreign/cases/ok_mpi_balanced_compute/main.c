/* All ranks compute the same and reduce; one line of output. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double mine = 0, all;
    for (int step = 0; step < 100; step++) {
        for (int i = 0; i < 1000000; i++)
            mine += sqrt((double)i + rank) * 1e-9;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!rank)
        printf("sum %.6f\n", all);
    MPI_Finalize();
    return 0;
}
