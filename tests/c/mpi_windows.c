/* Puts data into a window of all ranks while communicators are made and freed. */
#include <mpi.h>

enum { TIMES = 50 };

int main(int argc, char **argv)
{
    int rank, ranks, here[2] = {0}, value = 7;
    MPI_Win common;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_create(here, sizeof here, sizeof *here, MPI_INFO_NULL, MPI_COMM_WORLD, &common);
    for (int i = 0; i < TIMES; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        MPI_Barrier(copy);
        MPI_Win_fence(0, common);
        MPI_Put(&value, 1, MPI_INT, (rank + 1) % ranks, i % 2, 1, MPI_INT, common);
        MPI_Win_fence(0, common);
        MPI_Comm_free(&copy);
    }
    MPI_Win_free(&common);
    MPI_Finalize();
    return 0;
}
