/* Reads that end at the end of a file, by every kind of MPI-IO call, with and without a status. Each kind has
 * a file of its own of 8000 bytes on each rank; prints "NAME BYTES" with the bytes that the statuses told, or
 * that the file must give where the program ignores the status. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ASKED = 1 << 16, FILE_BYTES = 8000 };

static char data[ASKED];
static int rank;

static MPI_File made(const char *name)
{
    MPI_File file;
    char path[100];
    snprintf(path, sizeof path, "%s.%d", name, rank);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, data, FILE_BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    return file;
}

static void told(const char *name, const MPI_Status *status)
{
    int bytes = FILE_BYTES;
    if (status != MPI_STATUS_IGNORE)
        MPI_Get_elements(status, MPI_BYTE, &bytes);
    printf("%s.%d %d\n", name, rank, bytes);
}

#define BLOCKING(name, ...)                                                                                  \
    do {                                                                                                     \
        for (int ignored = 0; ignored < 2; ignored++) {                                                      \
            MPI_Status own, *status = ignored ? MPI_STATUS_IGNORE : &own;                                    \
            MPI_File file = made(ignored ? name ".ignored" : name);                                          \
            __VA_ARGS__;                                                                                     \
            told(ignored ? name ".ignored" : name, status);                                                  \
            MPI_File_close(&file);                                                                           \
        }                                                                                                    \
    } while (0)

#define POSTED(name, ...) BLOCKING(name, MPI_Request request; __VA_ARGS__; MPI_Wait(&request, status))

int main(int count, char **argument)
{
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    BLOCKING("read", MPI_File_read(file, data, ASKED, MPI_BYTE, status));
    BLOCKING("read_at", MPI_File_read_at(file, 0, data, ASKED / 8, MPI_DOUBLE, status));
    BLOCKING("read_shared", MPI_File_read_shared(file, data, ASKED, MPI_BYTE, status));
    BLOCKING("read_all", MPI_File_read_all(file, data, ASKED, MPI_BYTE, status));
    BLOCKING("read_at_all", MPI_File_read_at_all(file, 0, data, ASKED, MPI_BYTE, status));
    BLOCKING("read_ordered", MPI_File_read_ordered(file, data, ASKED, MPI_BYTE, status));
    BLOCKING("read_all_split", MPI_File_read_all_begin(file, data, ASKED, MPI_BYTE),
             MPI_File_read_all_end(file, data, status));
    BLOCKING("read_at_all_split", MPI_File_read_at_all_begin(file, 0, data, ASKED, MPI_BYTE),
             MPI_File_read_at_all_end(file, data, status));
    BLOCKING("read_ordered_split", MPI_File_read_ordered_begin(file, data, ASKED, MPI_BYTE),
             MPI_File_read_ordered_end(file, data, status));
    POSTED("iread", MPI_File_iread(file, data, ASKED, MPI_BYTE, &request));
    POSTED("iread_at", MPI_File_iread_at(file, 0, data, ASKED, MPI_BYTE, &request));
    POSTED("iread_shared", MPI_File_iread_shared(file, data, ASKED, MPI_BYTE, &request));
    MPI_Finalize();
    return 0;
}
