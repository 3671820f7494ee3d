/* "Your program" of the documents: each rank writes a piece of the file `output`, in the folder given as
 * argument or else in the current folder. */
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>

enum { PIECE = 1 << 16 };

static int is_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

int main(int argc, char **argv)
{
    static char bytes[PIECE];
    char path[4096];
    int rank;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/output", argc > 1 && is_folder(argv[1]) ? argv[1] : ".");
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) !=
        MPI_SUCCESS) {
        fprintf(stderr, "app: %s cannot be opened\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int turn = 0; turn < 16; turn++)
        MPI_File_write_at_all(file, ((MPI_Offset)turn * 64 + rank) * PIECE, bytes, PIECE, MPI_BYTE,
                              MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
