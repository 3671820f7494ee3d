/* Makes MPI-IO calls without a slot in Darshan's record; rank 0 prints "EXTRA name count" for the calls of
 * one rank on the file "shared". Usage: mpi_other DIR */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1000 };

static void need(int code, const char *what)
{
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "%s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void split(MPI_File file, char *data, MPI_Offset at)
{
    need(MPI_File_write_at_all_begin(file, at, data, BYTES, MPI_BYTE), "write_at_all_begin");
    need(MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE), "write_at_all_end");
    need(MPI_File_write_all_begin(file, data, BYTES, MPI_BYTE), "write_all_begin");
    need(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE), "write_all_end");
    need(MPI_File_write_ordered_begin(file, data, BYTES, MPI_BYTE), "write_ordered_begin");
    need(MPI_File_write_ordered_end(file, data, MPI_STATUS_IGNORE), "write_ordered_end");
    need(MPI_File_read_at_all_begin(file, at, data, BYTES, MPI_BYTE), "read_at_all_begin");
    need(MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE), "read_at_all_end");
    need(MPI_File_read_all_begin(file, data, BYTES, MPI_BYTE), "read_all_begin");
    need(MPI_File_read_all_end(file, data, MPI_STATUS_IGNORE), "read_all_end");
    need(MPI_File_read_ordered_begin(file, data, BYTES, MPI_BYTE), "read_ordered_begin");
    need(MPI_File_read_ordered_end(file, data, MPI_STATUS_IGNORE), "read_ordered_end");
}

int main(int argc, char **argv)
{
    static char data[BYTES];
    char path[4096], gone[4096];
    int rank;
    MPI_Offset bytes = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/shared", argv[1]);
    snprintf(gone, sizeof gone, "%s/gone.%d", argv[1], rank);
    need(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");
    need(MPI_File_set_size(file, 100000), "set_size");
    need(MPI_File_preallocate(file, 200000), "preallocate");
    need(MPI_File_get_size(file, &bytes), "get_size");
    need(MPI_File_set_atomicity(file, 0), "set_atomicity");
    need(MPI_File_seek(file, 10, MPI_SEEK_SET), "seek");
    need(MPI_File_seek(file, 10, MPI_SEEK_CUR), "seek");
    need(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "seek_shared");
    split(file, data, (MPI_Offset)rank * BYTES);
    need(MPI_File_close(&file), "close");
    need(MPI_File_open(MPI_COMM_SELF, gone, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file), "open");
    need(MPI_File_close(&file), "close");
    need(MPI_File_delete(gone, MPI_INFO_NULL), "delete");
    if (MPI_File_delete(gone, MPI_INFO_NULL) == MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    snprintf(gone, sizeof gone, "%s/fleeting.%d", argv[1], rank);
    int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE;
    need(MPI_File_open(MPI_COMM_SELF, gone, mode, MPI_INFO_NULL, &file), "open");
    need(MPI_File_close(&file), "close");
    if (rank == 0)
        printf("EXTRA set_sizes 1\nEXTRA preallocates 1\nEXTRA get_sizes 1\nEXTRA atomicities 1\n"
               "EXTRA seeks 3\nEXTRA split_ends 6\n");
    MPI_Finalize();
    return bytes == 200000 ? 0 : 1;
}
