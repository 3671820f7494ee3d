/* Reserves room for a file many times; prints how long this took by the program's clock. */
#include <mpi.h>
#include <stdio.h>

enum { TIMES = 40, STEP = 1 << 20 };

int main(int count, char **argument)
{
    MPI_File file;
    char path[4096];
    MPI_Init(&count, &argument);
    snprintf(path, sizeof path, "%s/reserved", argument[1]);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    double begin = MPI_Wtime();
    for (int i = 1; i <= TIMES; i++)
        MPI_File_preallocate(file, (MPI_Offset)i * STEP);
    printf("%.9f\n", MPI_Wtime() - begin);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
