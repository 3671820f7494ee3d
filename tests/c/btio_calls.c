/* Counts a program's MPI-IO calls through the profiling interface; at the end rank 0 prints the counts of its
 * own calls. */
#include <mpi.h>
#include <stdio.h>

static int opens, views, writes, reads, collective_writes, collective_reads;

int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file)
{
    opens++;
    return PMPI_File_open(comm, path, mode, info, file);
}

int MPI_File_set_view(MPI_File file, MPI_Offset start, MPI_Datatype etype, MPI_Datatype view,
                      const char *name, MPI_Info info)
{
    views++;
    return PMPI_File_set_view(file, start, etype, view, name, info);
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *from, int count, MPI_Datatype type,
                      MPI_Status *status)
{
    writes++;
    return PMPI_File_write_at(file, at, from, count, type, status);
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *to, int count, MPI_Datatype type, MPI_Status *status)
{
    reads++;
    return PMPI_File_read_at(file, at, to, count, type, status);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *from, int count, MPI_Datatype type,
                          MPI_Status *status)
{
    collective_writes++;
    return PMPI_File_write_at_all(file, at, from, count, type, status);
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *to, int count, MPI_Datatype type,
                         MPI_Status *status)
{
    collective_reads++;
    return PMPI_File_read_at_all(file, at, to, count, type, status);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("CALLS open=%d view=%d write_at=%d read_at=%d write_at_all=%d read_at_all=%d\n", opens, views,
               writes, reads, collective_writes, collective_reads);
    return PMPI_Finalize();
}
