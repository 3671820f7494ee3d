/* mpi_shared_files FOLDER POSIX_FILES MPIIO_FILES: makes files that all ranks write through POSIX calls, and
 * others through collective MPI-IO, in which each rank writes rank + 1 bytes; one that only ranks 0 and 1
 * write (if there are more ranks), and one of each rank alone. Prints the seconds of MPI_Finalize, on rank 0.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char data[4096];

static void need(int condition, const char *what)
{
    if (condition)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void write_posix(const char *folder, const char *kind, int number, int rank)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%d", folder, kind, number);
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    need(fd >= 0 && pwrite(fd, data, (size_t)rank + 1, rank * (off_t)sizeof data) == rank + 1, path);
    close(fd);
}

static void write_collectively(const char *folder, int number, int rank)
{
    char path[4096];
    MPI_File file;
    snprintf(path, sizeof path, "%s/mpiio%d", folder, number);
    int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    need(code == MPI_SUCCESS, path);
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof data, data, rank + 1, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int count, char **argument)
{
    int rank, ranks;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    need(count == 4 && ranks < (int)sizeof data, "usage: mpi_shared_files FOLDER POSIX_FILES MPIIO_FILES");
    for (int i = 0; i < atoi(argument[2]); i++)
        write_posix(argument[1], "posix", i, rank);
    for (int i = 0; i < atoi(argument[3]); i++)
        write_collectively(argument[1], i, rank);
    if (ranks > 2 && rank < 2)
        write_posix(argument[1], "some", 0, rank);
    write_posix(argument[1], "own", rank, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now();
    MPI_Finalize();
    if (rank == 0)
        printf("MPI_Finalize: %.6f s\n", now() - begin);
    return 0;
}
