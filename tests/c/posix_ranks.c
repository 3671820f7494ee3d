/* An MPI program that uses only POSIX calls: a file that all ranks write (1000 bytes times rank + 1 each),
 * one that ranks 0 and 1 write (10 bytes each), and one per rank (1 byte). */
#include <mpi.h>

#include "posix_expect.h"

static void write_file(const char *name, size_t bytes, off_t offset)
{
    static char data[65536] __attribute__((aligned(4096)));
    int fd = open(name, O_CREAT | O_RDWR, 0600);
    MUST(fd >= 0 && pwrite(fd, data, bytes, offset) == (ssize_t)bytes && close(fd) == 0);
}

int main(int count, char **argument)
{
    char own[32];
    int rank;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(own, sizeof own, "rank%d.dat", rank);
    write_file("all.dat", 1000 * (rank + 1), 4096 * rank);
    if (rank < 2)
        write_file("some.dat", 10, 10 * rank);
    write_file(own, 1, 0);
    MPI_Finalize();
    return 5;
}
