/* Rank 2 comes late to a barrier: `why_causes lock`, since rank 1 holds the lock of a file, or `why_causes
 * computing`. */
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static void lock_whole(int fd, short kind)
{
    struct flock whole = {.l_type = kind, .l_whence = SEEK_SET};
    fcntl(fd, F_SETLKW, &whole);
}

static void wait_for_lock(int rank)
{
    int fd = open("locked", O_RDWR | O_CREAT, 0600);
    if (rank == 1)
        lock_whole(fd, F_WRLCK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        usleep(400000);
        lock_whole(fd, F_UNLCK);
    } else if (rank == 2) {
        lock_whole(fd, F_WRLCK);
        usleep(100000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
}

static void compute(int rank)
{
    double begin = MPI_Wtime();
    while (rank == 2 && MPI_Wtime() < begin + 0.4)
        ;
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "lock") == 0)
        wait_for_lock(rank);
    else
        compute(rank);
    MPI_Finalize();
    return 0;
}
