/* crowded_ranks FOLDER: in one region, every rank writes its part of a shared file and a file of its own,
 * sends 1000 bytes to the next rank in a ring, and takes part in a sum over all ranks. The program is small,
 * so that many ranks fit on a machine. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "iolens.h"

enum { BYTES = 1000 };

static void write_file(const char *path, off_t place)
{
    static const char text[BYTES];
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd < 0 || pwrite(fd, text, sizeof text, place) != sizeof text || close(fd) != 0) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int count, char **argument)
{
    static char sent[BYTES], received[BYTES];
    char own[32];
    int rank, ranks, one = 1, all = 0;
    if (count != 2 || chdir(argument[1]) != 0)
        return 2;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(own, sizeof own, "own%d.dat", rank);
    iolens_region_begin(1, "work");
    write_file("shared.dat", (off_t)rank * BYTES);
    write_file(own, 0);
    MPI_Sendrecv(sent, BYTES, MPI_BYTE, (rank + 1) % ranks, 0, received, BYTES, MPI_BYTE,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    iolens_region_end(1);
    MPI_Finalize();
    return all != ranks;
}
