/* Ends without MPI_Finalize: `abort` by MPI_Abort with code 7, `exit` by exit(5). Usage: mpi_leaves DIR
 * abort|exit */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char path[4096];
    MPI_File file;
    MPI_Init(&argc, &argv);
    snprintf(path, sizeof path, "%s/left", argv[1]);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    if (strcmp(argv[2], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    exit(5);
}
