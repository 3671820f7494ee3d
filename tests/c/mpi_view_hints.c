/* Sets two views of a shared file, the second with hints on every rank. */
#include <mpi.h>

enum { BYTES = 64 };

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Info info;
    char data[BYTES] = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "1048576");
    MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
    for (int step = 1; step <= 2; step++) {
        MPI_Offset begin = step * 1024 + rank * BYTES;
        MPI_File_set_view(file, begin, MPI_BYTE, MPI_BYTE, "native", step == 2 ? info : MPI_INFO_NULL);
        MPI_File_write_all(file, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
