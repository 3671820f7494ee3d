/* Makes one write of 3 GiB, whose memory is described by a type that reads the same MiB of memory again and
 * again. Usage: mpi_huge DIR */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB    (1 << 20)
#define BLOCKS 3072

int main(int argc, char **argv)
{
    char path[4096], *block = calloc(1, MIB);
    MPI_File file;
    MPI_Datatype same;
    MPI_Init(&argc, &argv);
    if (argc != 2 || !block)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(path, sizeof path, "%s/huge", argv[1]);
    MPI_Type_create_hvector(BLOCKS, MIB, 0, MPI_BYTE, &same);
    MPI_Type_commit(&same);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    int code = MPI_File_write_at(file, 0, block, 1, same, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_File_delete(path, MPI_INFO_NULL);
    printf("MPI-IO MPIIO_BYTES_WRITTEN %lld\n", code == MPI_SUCCESS ? (long long)BLOCKS * MIB : 0);
    MPI_Type_free(&same);
    MPI_Finalize();
    return 0;
}
