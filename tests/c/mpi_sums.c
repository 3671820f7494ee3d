/* Adds numbers of all ranks by non-blocking collective calls, and ends with 1 if a sum is wrong. */
#include <mpi.h>

enum { ROUNDS = 3 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        long long own[] = {rank + 1, round}, sum[] = {0, 0};
        MPI_Request request;
        MPI_Iallreduce(own, sum, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong |= sum[0] != size * (size + 1) / 2 || sum[1] != (long long)size * round;
    }
    MPI_Finalize();
    return wrong;
}
