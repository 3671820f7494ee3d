/* mpi_limited RANK FILES: every rank writes FILES files of its own and one that all share. Then, before
 * MPI_Finalize, rank RANK is limited to hardly any more address space. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, LITTLE = 8 << 20 };

static void write_file(const char *name, int place)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || pwrite(fd, "0123456789", 10, place) != 10 || close(fd) != 0)
        exit(1);
}

static void limit_memory(void)
{
    unsigned long pages;
    struct rlimit limit;
    FILE *sizes = fopen("/proc/self/statm", "r");
    if (!sizes || fscanf(sizes, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &limit) != 0)
        exit(1);
    fclose(sizes);
    limit.rlim_cur = pages * PAGE + LITTLE;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        exit(1);
}

int main(int count, char **argument)
{
    char name[32];
    int rank;
    if (count != 3)
        return 2;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int file = 0; file < atoi(argument[2]); file++) {
        snprintf(name, sizeof name, "own%d_%d.dat", rank, file);
        write_file(name, 0);
    }
    write_file("shared.dat", 10 * rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == atoi(argument[1]))
        limit_memory();
    MPI_Finalize();
    return 0;
}
