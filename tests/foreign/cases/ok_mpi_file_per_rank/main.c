/* Each rank writes 60 MiB to a file of its own in pieces of 2 MiB. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, bytes = 2 << 20;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[32], *block = malloc(bytes);
    sprintf(name, "rank%d.bin", rank);
    memset(block, 'a' + rank, bytes);
    int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    for (int i = 0; i < 30; i++)
        if (write(file, block, bytes) != bytes)
            MPI_Abort(MPI_COMM_WORLD, 1);
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        puts("pieces of each rank 30");
    MPI_Finalize();
    return 0;
}
