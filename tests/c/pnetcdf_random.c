/* Makes random calls of PnetCDF, the same for every equal seed: pnetcdf_random FOLDER SEED. All ranks draw
 * the same numbers, and each writes a part of its own. A file is opened in several rounds. */

#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { VARS = 4, LENGTH = 24, MOST = 4096 };

static unsigned long drawn;
static int rank, ranks;
static int memory[MOST];

static long draw(long below)
{
    drawn = drawn * 6364136223846793005UL + 1442695040888963407UL;
    return (long)((drawn >> 33) % (unsigned long)below);
}

static void check(int code, const char *what)
{
    if (code != NC_NOERR) {
        fprintf(stderr, "pnetcdf_random: %s: %s\n", what, ncmpi_strerror(code));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void define(int file, int *vars)
{
    int dims[3];
    check(ncmpi_def_dim(file, "t", NC_UNLIMITED, &dims[0]), "def_dim");
    check(ncmpi_def_dim(file, "y", (MPI_Offset)ranks * 3, &dims[1]), "def_dim");
    check(ncmpi_def_dim(file, "x", LENGTH, &dims[2]), "def_dim");
    for (int i = 0; i < VARS; i++) {
        char name[] = {'v', (char)('0' + i), 0};
        int fixed = draw(2) != 0;
        check(ncmpi_def_var(file, name, draw(2) ? NC_INT : NC_SHORT, fixed ? 2 : 3, fixed ? dims + 1 : dims,
                            &vars[i]),
              "def_var");
    }
    check(ncmpi_enddef(file), "enddef");
}

/* Moves a random block of one variable: plain or strided, at once or posted, alone or together. */
static void move(int file, int var, int writing, int alone)
{
    MPI_Offset start[3], count[3], stride[3], first;
    int dims, request, status, posted = !alone && draw(3) == 0, strided = draw(3) == 0, at;
    check(ncmpi_inq_varndims(file, var, &dims), "inq_varndims");
    at = dims - 2;
    start[0] = draw(3), count[0] = writing ? 1 + draw(2) : 1, stride[0] = 1;
    start[0] = writing ? start[0] : 0;
    first = draw(LENGTH / 2);
    start[at] = (MPI_Offset)rank * 3, count[at] = 1 + draw(3), stride[at] = 1;
    start[at + 1] = first, stride[at + 1] = strided ? 2 : 1,
               count[at + 1] = 1 + draw(strided ? 6 : LENGTH / 2);
    if (posted && writing)
        check(ncmpi_iput_vars_int(file, var, start, count, stride, memory, &request), "iput_vars");
    else if (posted)
        check(ncmpi_iget_vars_int(file, var, start, count, stride, memory, &request), "iget_vars");
    if (posted)
        check(ncmpi_wait_all(file, 1, &request, &status), "wait_all");
    else if (writing && alone)
        check(ncmpi_put_vars_int(file, var, start, count, stride, memory), "put_vars");
    else if (writing)
        check(ncmpi_put_vars_int_all(file, var, start, count, stride, memory), "put_vars_all");
    else if (alone)
        check(ncmpi_get_vars_int(file, var, start, count, stride, memory), "get_vars");
    else
        check(ncmpi_get_vars_int_all(file, var, start, count, stride, memory), "get_vars_all");
}

static void one_round(const char *path, int fresh, int writable)
{
    int file, vars[VARS];
    if (fresh)
        check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | (draw(2) ? NC_64BIT_DATA : 0), MPI_INFO_NULL,
                           &file),
              "create");
    else
        check(ncmpi_open(MPI_COMM_WORLD, path, writable ? NC_WRITE : NC_NOWRITE, MPI_INFO_NULL, &file),
              "open");
    if (fresh)
        define(file, vars);
    for (int i = 0; i < VARS && !fresh; i++) {
        char name[] = {'v', (char)('0' + i), 0};
        check(ncmpi_inq_varid(file, name, &vars[i]), "inq_varid");
    }
    for (int i = 0; i < VARS && fresh; i++)
        move(file, vars[i], 1, 0);
    for (long left = 1 + draw(5); left; left--) {
        int alone = draw(4) == 0;
        if (alone)
            check(ncmpi_begin_indep_data(file), "begin_indep_data");
        move(file, vars[draw(VARS)], writable && draw(3) != 0, alone);
        if (alone)
            check(ncmpi_end_indep_data(file), "end_indep_data");
    }
    check(ncmpi_close(file), "close");
}

/* Opens the file once more: anew, for reading alone, or for both. */
static void again(const char *path)
{
    int fresh = draw(4) == 0;
    one_round(path, fresh, fresh || draw(3) != 0);
}

int main(int argc, char **argv)
{
    char path[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    drawn = strtoul(argv[2], NULL, 10) * 7919 + 1;
    snprintf(path, sizeof path, "%s/random.nc", argv[1]);
    for (int i = 0; i < MOST; i++)
        memory[i] = i % 1000;
    one_round(path, 1, 1);
    for (long rounds = draw(3); rounds; rounds--)
        again(path);
    MPI_Finalize();
    return 0;
}
