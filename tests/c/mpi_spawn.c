/* Starts two more processes by MPI_Comm_spawn or MPI_Comm_spawn_multiple: this program again, or COMMAND.
 * Both jobs write a file by MPI-IO; the parent continues after its children have ended. Usage: mpi_spawn
 * FOLDER one|multiple [COMMAND] */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void write_file(const char *folder, const char *name, int bytes)
{
    char path[4096], data[4096] = {0};
    MPI_File file;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)rank * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static MPI_Comm start_two(char **argv)
{
    char *command = argv[3] ? argv[3] : argv[0];
    MPI_Comm both;
    if (strcmp(argv[2], "one") == 0)
        MPI_Comm_spawn(command, argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both, MPI_ERRCODES_IGNORE);
    else
        MPI_Comm_spawn_multiple(2, (char *[]){command, command}, (char **[]){argv + 1, argv + 1},
                                (int[]){1, 1}, (MPI_Info[]){MPI_INFO_NULL, MPI_INFO_NULL}, 0, MPI_COMM_WORLD,
                                &both, MPI_ERRCODES_IGNORE);
    return both;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        write_file(argv[1], "before", 100);
        both = start_two(argv);
        MPI_Comm_disconnect(&both);
        write_file(argv[1], "after", 300);
    } else {
        write_file(argv[1], "child", 200);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
