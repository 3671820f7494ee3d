/* Sends messages whose sizes are at the bounds of every size class to the next rank; prints "SIZE bytes" for
 * each message of a rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const int SIZES[] = {0,     15,     16,     255,     256,     257,     1023,
                            1024,  1025,   4095,   4096,    8192,    8193,    65535,
                            65536, 262144, 262145, 1048575, 1048576, 1048577, 16 << 20};

enum { COUNT = sizeof SIZES / sizeof *SIZES, ROOM = 16 << 20 };

int main(int argc, char **argv)
{
    int rank, ranks, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    char *out = calloc(1, ROOM), *in = malloc(ROOM);
    for (int i = 0; i < COUNT; i++) {
        MPI_Request request;
        MPI_Irecv(in, SIZES[i], MPI_BYTE, left, 0, MPI_COMM_WORLD, &request);
        MPI_Send(out, SIZES[i], MPI_BYTE, right, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 0)
            printf("SIZE %d\n", SIZES[i]);
    }
    MPI_Bcast(out, 1024, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
    MPI_Finalize();
    return sum != ranks * (ranks - 1) / 2;
}
