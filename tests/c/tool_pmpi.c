/* A tool on MPI's profiling interface, linked or preloaded: it wraps a few MPI_ functions and prints in
 * MPI_Finalize how often they were called on this rank. */
#include <mpi.h>
#include <stdio.h>

static int opens, writes;

int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file)
{
    opens++;
    return PMPI_File_open(comm, path, mode, info, file);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *data, int count, MPI_Datatype type,
                          MPI_Status *status)
{
    writes++;
    return PMPI_File_write_at_all(file, at, data, count, type, status);
}

int MPI_Finalize(void)
{
    printf("tool: %d opens, %d writes\n", opens, writes);
    fflush(stdout);
    return PMPI_Finalize();
}
