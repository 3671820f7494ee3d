/* Makes every kind of MPI-IO transfer on one shared file, with known sizes; rank 0 prints `MODULE COUNTER
 * value` for the record that all ranks share (rank -1). Usage: mpi_calls DIR */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 4096

static void need(int code, const char *what)
{
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "%s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void expect(int rank, const char *module, const char *counter, long value)
{
    if (rank == 0)
        printf("%s %s %ld\n", module, counter, value);
}

static void blocking(MPI_File file, char *block, MPI_Offset at)
{
    MPI_Status status;
    need(MPI_File_write_at(file, at, block, BLOCK, MPI_BYTE, &status), "write_at");
    need(MPI_File_write_at_all(file, at, block, BLOCK / 4, MPI_INT, &status), "write_at_all");
    need(MPI_File_read_at(file, at, block, BLOCK / 8, MPI_DOUBLE, &status), "read_at");
    need(MPI_File_read_at_all(file, at, block, BLOCK, MPI_BYTE, &status), "read_at_all");
}

static void split(MPI_File file, char *block, MPI_Offset at)
{
    MPI_Status status;
    need(MPI_File_write_at_all_begin(file, at, block, BLOCK, MPI_BYTE), "write_at_all_begin");
    need(MPI_File_write_at_all_end(file, block, &status), "write_at_all_end");
    need(MPI_File_read_at_all_begin(file, at, block, BLOCK, MPI_BYTE), "read_at_all_begin");
    need(MPI_File_read_at_all_end(file, block, &status), "read_at_all_end");
}

static void nonblocking(MPI_File file, char *block, MPI_Offset at)
{
    MPI_Request request;
    need(MPI_File_iwrite_at(file, at, block, BLOCK, MPI_BYTE, &request), "iwrite_at");
    need(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
    need(MPI_File_iread_at(file, at, block, BLOCK, MPI_BYTE, &request), "iread_at");
    need(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
}

/* Writes 4 + r more blocks on rank r, so that ranks differ. */
static void uneven(MPI_File file, char *block, int rank, MPI_Offset at)
{
    for (int i = 0; i < 4 + rank; i++)
        need(MPI_File_write_at(file, at, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), "write_at");
}

static void print_expected(int rank, int size)
{
    long more = 0;
    for (int r = 0; r < size; r++)
        more += 4 + r;
    expect(rank, "MPI-IO", "MPIIO_COLL_OPENS", size > 1 ? size : 0);
    expect(rank, "MPI-IO", "MPIIO_INDEP_OPENS", size > 1 ? 0 : 1);
    expect(rank, "MPI-IO", "MPIIO_INDEP_WRITES", size + more);
    expect(rank, "MPI-IO", "MPIIO_COLL_WRITES", size);
    expect(rank, "MPI-IO", "MPIIO_SPLIT_WRITES", size);
    expect(rank, "MPI-IO", "MPIIO_NB_WRITES", size);
    expect(rank, "MPI-IO", "MPIIO_INDEP_READS", size);
    expect(rank, "MPI-IO", "MPIIO_COLL_READS", size);
    expect(rank, "MPI-IO", "MPIIO_SPLIT_READS", size);
    expect(rank, "MPI-IO", "MPIIO_NB_READS", size);
    expect(rank, "MPI-IO", "MPIIO_SYNCS", size);
    expect(rank, "MPI-IO", "MPIIO_VIEWS", size);
    expect(rank, "MPI-IO", "MPIIO_HINTS", 2 * size);
    expect(rank, "MPI-IO", "MPIIO_BYTES_WRITTEN", (4L * size + more) * BLOCK);
    expect(rank, "MPI-IO", "MPIIO_BYTES_READ", 4L * size * BLOCK);
    expect(rank, "MPI-IO", "MPIIO_SIZE_WRITE_AGG_1K_10K", 4L * size + more);
    expect(rank, "MPI-IO", "MPIIO_SIZE_READ_AGG_1K_10K", 4L * size);
    expect(rank, "MPI-IO", "MPIIO_ACCESS1_ACCESS", BLOCK);
    expect(rank, "MPI-IO", "MPIIO_ACCESS1_COUNT", 8L * size + more);
}

int main(int argc, char **argv)
{
    int rank, size;
    char path[4096], *block = calloc(1, BLOCK);
    MPI_File file;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || !block)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(path, sizeof path, "%s/shared", argv[1]);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    need(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file), "open");
    need(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info), "set_view");
    MPI_Offset at = (MPI_Offset)rank * BLOCK;
    blocking(file, block, at);
    split(file, block, at);
    nonblocking(file, block, at);
    uneven(file, block, rank, at);
    need(MPI_File_sync(file), "sync");
    need(MPI_File_close(&file), "close");
    MPI_Info_free(&info);
    print_expected(rank, size);
    free(block);
    MPI_Finalize();
    return 0;
}
