/* MPI_Pcontrol switches recording off and on: bytes written in between are not counted. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "../../profiler/include/pat_api.h"

int main(int argc, char **argv)
{
    int rank;
    char name[32], data[16] = "";
    MPI_Init(&argc, &argv);
    if (argc < 2 || chdir(argv[1]) != 0)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "rank%d.txt", rank);
    PAT_region_begin(1, "all");
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    if (write(fd, data, 10) != 10)
        return 1;
    MPI_Pcontrol(0);
    if (write(fd, data, 5) != 5)
        return 1;
    MPI_Pcontrol(1);
    if (write(fd, data, 3) != 3)
        return 1;
    MPI_Pcontrol(2);
    if (rank == 1)
        PAT_region_begin(2, "only on rank 1");
    close(fd);
    PAT_region_end(1);
    MPI_Finalize();
    return 0;
}
