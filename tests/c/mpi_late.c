/* Makes five collective writes that rank 1 enters 50 ms after the others. If the second argument is `say`,
 * rank 0 prints for each rank how many seconds it entered before the last rank, summed over the five
 * calls. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, CALLS = 5, LATE = 50000, MOST_RANKS = 16 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Prints how many seconds each rank entered before the last one; all ranks read the clock of the same
 * machine. */
static void say_early(const double begin[CALLS], int rank)
{
    double last[CALLS], early = 0, all[MOST_RANKS];
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(begin, last, CALLS, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < CALLS; i++)
        early += last[i] - begin[i];
    MPI_Gather(&early, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int other = 0; rank == 0 && other < ranks; other++)
        printf("%.6f\n", all[other]);
}

int main(int argc, char **argv)
{
    static char data[BLOCK];
    char path[4096];
    double begin[CALLS];
    int rank;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/late", argc > 1 ? argv[1] : ".");
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
        MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < CALLS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            usleep(LATE);
        begin[i] = now();
        MPI_File_write_at_all(file, (MPI_Offset)rank * BLOCK, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    if (argc > 2 && strcmp(argv[2], "say") == 0)
        say_early(begin, rank);
    MPI_Finalize();
    return 0;
}
