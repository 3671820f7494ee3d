/* Makes communicators of one rank, of at most two, and of all ranks. The first is made and used before
 * recording is switched off, the second only while it is off; the third is made while it is off and used
 * again afterwards. */
#include <mpi.h>

static MPI_Comm part(int color)
{
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &made);
    return made;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm alone = part(rank);
    MPI_Barrier(alone);
    MPI_Pcontrol(0);
    MPI_Comm pair = part(rank / 2), all = part(0);
    MPI_Barrier(pair);
    MPI_Barrier(all);
    MPI_Barrier(all);
    MPI_Comm_free(&pair);
    MPI_Pcontrol(1);
    MPI_Barrier(all);
    MPI_Barrier(all);
    MPI_Finalize();
    return 0;
}
