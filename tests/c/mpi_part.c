/* Writes a file through MPI-IO, from a library that a program without MPI loads while it runs. */
#include <mpi.h>
#include <stddef.h>

enum { BYTES = 1000 };

int part(const char *path)
{
    static char data[BYTES];
    MPI_File file;
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS) {
        code =
            MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    MPI_Finalize();
    return code;
}

#ifndef LIBRARY
int main(int count, char **words) { return count > 1 ? part(words[1]) : 2; }
#endif
