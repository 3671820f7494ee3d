/* Makes every form of PnetCDF's calls on a file in the folder argv[1]; rank 0 prints the values that the log
 * must have as "NAME module counter value". Every process makes the same calls. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 6, COLUMNS = 4, RECORD = ROWS * COLUMNS };

static int rank, ranks;

static void check(int code, const char *what)
{
    if (code != NC_NOERR) {
        fprintf(stderr, "pnetcdf_calls: %s: %s\n", what, ncmpi_strerror(code));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#define CHECK(call) check(call, #call)

static void expect(const char *name, const char *module, const char *counter, long long value)
{
    if (rank == 0)
        printf("%s %s %s %lld\n", name, module, counter, value);
}

static const MPI_Offset START[3] = {0, 1, 0}, COUNT[3] = {1, 2, 3}, STRIDE[3] = {1, 2, 1}, MAP[3] = {6, 3, 1};
static const MPI_Offset ALL_START[3] = {0, 0, 0}, ALL_COUNT[3] = {2, ROWS, COLUMNS};
static MPI_Offset *const STARTS[2] = {(MPI_Offset[]){0, 0, 0}, (MPI_Offset[]){1, 2, 0}};
static MPI_Offset *const COUNTS[2] = {(MPI_Offset[]){1, 2, 3}, (MPI_Offset[]){1, 1, 4}};
static double data[4 * RECORD];
static int line[8];

/* Writes and reads `var` by collective calls of all forms. Afterwards it has two records: 2 x 6 x 4 doubles.
 */
static void collective(int nc, int var)
{
    CHECK(ncmpi_put_vara_double_all(nc, var, ALL_START, ALL_COUNT, data));
    CHECK(ncmpi_put_vara_all(nc, var, START, COUNT, data, 6, MPI_DOUBLE));
    CHECK(ncmpi_put_vars_double_all(nc, var, START, COUNT, STRIDE, data));
    CHECK(ncmpi_put_varm_double_all(nc, var, START, COUNT, NULL, MAP, data));
    CHECK(ncmpi_put_var1_double_all(nc, var, START, data));
    CHECK(ncmpi_put_varn_double_all(nc, var, 2, STARTS, COUNTS, data));
    CHECK(ncmpi_get_var_double_all(nc, var, data));
    CHECK(ncmpi_get_vara_double_all(nc, var, START, COUNT, data));
}

static void by_file_type(int nc, int var)
{
    MPI_Datatype row;
    MPI_Type_contiguous(COLUMNS, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    CHECK(ncmpi_put_vard_all(nc, var, row, data, COLUMNS, MPI_DOUBLE));
    CHECK(ncmpi_get_vard_all(nc, var, MPI_DATATYPE_NULL, data, 0, MPI_DOUBLE));
    MPI_Type_free(&row);
}

static void nonblocking(int nc, int var)
{
    int requests[4], codes[4];
    CHECK(ncmpi_buffer_attach(nc, 1024));
    CHECK(ncmpi_iput_vara_double(nc, var, START, COUNT, data, &requests[0]));
    CHECK(ncmpi_iput_var1(nc, var, START, data, 1, MPI_DOUBLE, &requests[1]));
    CHECK(ncmpi_bput_vars_double(nc, var, START, COUNT, STRIDE, data, &requests[2]));
    CHECK(ncmpi_iget_varn_double(nc, var, 2, STARTS, COUNTS, data, &requests[3]));
    CHECK(ncmpi_wait_all(nc, 4, requests, codes));
    CHECK(ncmpi_buffer_detach(nc));
}

/* Writes and reads the variable `fixed`, which has eight ints, by independent calls. */
static void independent(int nc, int fixed)
{
    MPI_Offset at = 3;
    int request, code;
    CHECK(ncmpi_begin_indep_data(nc));
    CHECK(ncmpi_put_var_int(nc, fixed, line));
    CHECK(ncmpi_get_var1_int(nc, fixed, &at, line));
    CHECK(ncmpi_iget_var_int(nc, fixed, line, &request));
    CHECK(ncmpi_wait(nc, 1, &request, &code));
    CHECK(ncmpi_end_indep_data(nc));
}

/* Moves several variables in one call: `field` has 2 x 6 x 4 doubles, `one` and `two` have eight ints. */
static void move_several(int nc, int field, int one, int two)
{
    int twice[2] = {field, field}, mixed[2] = {field, one}, both[2] = {one, two}, other[8] = {0};
    MPI_Offset *const strides[1] = {(MPI_Offset *)STRIDE}, *const maps[1] = {(MPI_Offset *)MAP};
    MPI_Offset *const starts[2] = {STARTS[0], (MPI_Offset[]){2}}, *const counts[2] = {COUNTS[0],
                                                                                      (MPI_Offset[]){5}};
    MPI_Offset *const places[2] = {(MPI_Offset[]){3}, (MPI_Offset[]){7}};
    const MPI_Offset items[2] = {6, 5};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    double *const doubles[2] = {data, data + RECORD};
    int *ints[2] = {line, other};
    void *mix[2] = {data, line};
    CHECK(ncmpi_mput_vara_double_all(nc, 2, twice, STARTS, COUNTS, doubles));
    CHECK(ncmpi_mput_vara_all(nc, 2, mixed, starts, counts, mix, items, types));
    CHECK(ncmpi_mput_vars_double_all(nc, 1, twice, STARTS, COUNTS, strides, doubles));
    CHECK(ncmpi_mput_varm_double_all(nc, 1, twice, STARTS, COUNTS, strides, maps, doubles));
    CHECK(ncmpi_mput_var_int_all(nc, 2, both, ints));
    CHECK(ncmpi_mput_var_int_all(nc, 0, both, ints));
    CHECK(ncmpi_mget_vara_all(nc, 2, mixed, starts, counts, mix, items, types));
    CHECK(ncmpi_mget_var_int_all(nc, 2, both, ints));
    CHECK(ncmpi_begin_indep_data(nc));
    CHECK(ncmpi_mput_var1_int(nc, 2, both, places, ints));
    CHECK(ncmpi_mget_var1_int(nc, 1, both, places, ints));
    CHECK(ncmpi_end_indep_data(nc));
}

static void expect_several(long long written, long long read)
{
    const char *field = "/several.nc:field", *one = "/several.nc:one", *two = "/several.nc:two";
    const char *module = "PNETCDF_VAR";
    long long block = 6 * 8, pieces = 10 * 8, whole = 8 * 4;
    expect(field, module, "PNETCDF_VAR_PUT_VARA", 3 * ranks);
    expect(field, module, "PNETCDF_VAR_PUT_VARS", ranks);
    expect(field, module, "PNETCDF_VAR_PUT_VARM", ranks);
    expect(field, module, "PNETCDF_VAR_GET_VARA", ranks);
    expect(field, module, "PNETCDF_VAR_COLL_WRITES", 5 * ranks);
    expect(field, module, "PNETCDF_VAR_COLL_READS", ranks);
    expect(field, module, "PNETCDF_VAR_BYTES_WRITTEN", ranks * (pieces + 3 * block));
    expect(field, module, "PNETCDF_VAR_BYTES_READ", ranks * block);
    expect(field, module, "PNETCDF_VAR_ACCESS1_ACCESS", block);
    expect(field, module, "PNETCDF_VAR_ACCESS1_LENGTH_D1", 3);
    expect(one, module, "PNETCDF_VAR_PUT_VARA", ranks);
    expect(one, module, "PNETCDF_VAR_PUT_VAR", ranks);
    expect(one, module, "PNETCDF_VAR_PUT_VAR1", ranks);
    expect(one, module, "PNETCDF_VAR_GET_VAR1", ranks);
    expect(one, module, "PNETCDF_VAR_INDEP_WRITES", ranks);
    expect(one, module, "PNETCDF_VAR_INDEP_READS", ranks);
    expect(one, module, "PNETCDF_VAR_BYTES_WRITTEN", ranks * (20 + whole + 4));
    expect(one, module, "PNETCDF_VAR_BYTES_READ", ranks * (20 + whole + 4));
    expect(two, module, "PNETCDF_VAR_COLL_WRITES", ranks);
    expect(two, module, "PNETCDF_VAR_BYTES_WRITTEN", ranks * (whole + 4));
    expect(two, module, "PNETCDF_VAR_BYTES_READ", ranks * whole);
    if (written != pieces + 3 * block + 20 + 2 * whole + 8 || read != block + 20 + 2 * whole + 4)
        check(NC_EINVAL, "what PnetCDF says it moved");
}

static void several(const char *folder)
{
    char path[4096];
    int nc, dimensions[3], eight, field, one, two;
    MPI_Offset written[2], read[2];
    snprintf(path, sizeof path, "%s/several.nc", folder);
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &nc));
    CHECK(ncmpi_def_dim(nc, "two", 2, &dimensions[0]));
    CHECK(ncmpi_def_dim(nc, "row", ROWS, &dimensions[1]));
    CHECK(ncmpi_def_dim(nc, "column", COLUMNS, &dimensions[2]));
    CHECK(ncmpi_def_dim(nc, "eight", 8, &eight));
    CHECK(ncmpi_def_var(nc, "field", NC_DOUBLE, 3, dimensions, &field));
    CHECK(ncmpi_def_var(nc, "one", NC_INT, 1, &eight, &one));
    CHECK(ncmpi_def_var(nc, "two", NC_INT, 1, &eight, &two));
    CHECK(ncmpi_enddef(nc));
    for (int after = 0; after < 2; after++) {
        if (after)
            move_several(nc, field, one, two);
        CHECK(ncmpi_inq_put_size(nc, &written[after]));
        CHECK(ncmpi_inq_get_size(nc, &read[after]));
    }
    CHECK(ncmpi_close(nc));
    expect_several(written[1] - written[0], read[1] - read[0]);
}

static void expect_field(void)
{
    const char *name = "/calls.nc:field", *module = "PNETCDF_VAR";
    long long block = 6 * 8, pieces = 10 * 8, all = 2 * RECORD * 8, row = COLUMNS * 8;
    expect(name, module, "PNETCDF_VAR_OPENS", 2 * ranks);
    expect(name, module, "PNETCDF_VAR_COLL_WRITES", 7 * ranks);
    expect(name, module, "PNETCDF_VAR_COLL_READS", 3 * ranks);
    expect(name, module, "PNETCDF_VAR_INDEP_WRITES", 0);
    expect(name, module, "PNETCDF_VAR_NB_WRITES", 3 * ranks);
    expect(name, module, "PNETCDF_VAR_NB_READS", ranks);
    expect(name, module, "PNETCDF_VAR_PUT_VARA", 2 * ranks);
    expect(name, module, "PNETCDF_VAR_PUT_VARS", ranks);
    expect(name, module, "PNETCDF_VAR_PUT_VARM", ranks);
    expect(name, module, "PNETCDF_VAR_PUT_VAR1", ranks);
    expect(name, module, "PNETCDF_VAR_PUT_VARN", ranks);
    expect(name, module, "PNETCDF_VAR_PUT_VARD", ranks);
    expect(name, module, "PNETCDF_VAR_GET_VAR", ranks);
    expect(name, module, "PNETCDF_VAR_GET_VARA", ranks);
    expect(name, module, "PNETCDF_VAR_GET_VARD", ranks);
    expect(name, module, "PNETCDF_VAR_IPUT_VARA", ranks);
    expect(name, module, "PNETCDF_VAR_IPUT_VAR1", ranks);
    expect(name, module, "PNETCDF_VAR_BPUT_VARS", ranks);
    expect(name, module, "PNETCDF_VAR_IGET_VARN", ranks);
    expect(name, module, "PNETCDF_VAR_BYTES_WRITTEN",
           ranks * (all + 3 * block + 8 + pieces + row + 2 * block + 8));
    expect(name, module, "PNETCDF_VAR_BYTES_READ", ranks * (all + block + pieces));
    expect(name, module, "PNETCDF_VAR_RW_SWITCHES", 5 * ranks);
    expect(name, module, "PNETCDF_VAR_SIZE_WRITE_AGG_100_1K", ranks);
    expect(name, module, "PNETCDF_VAR_SIZE_WRITE_AGG_0_100", 9 * ranks);
    expect(name, module, "PNETCDF_VAR_ACCESS1_ACCESS", block);
    expect(name, module, "PNETCDF_VAR_ACCESS1_COUNT", 3 * ranks);
    expect(name, module, "PNETCDF_VAR_ACCESS1_LENGTH_D1", 3);
    expect(name, module, "PNETCDF_VAR_ACCESS1_LENGTH_D2", 2);
    expect(name, module, "PNETCDF_VAR_ACCESS1_LENGTH_D3", 1);
    expect(name, module, "PNETCDF_VAR_ACCESS1_STRIDE_D2", 0);
    expect(name, module, "PNETCDF_VAR_NDIMS", 3);
    expect(name, module, "PNETCDF_VAR_NPOINTS", RECORD);
    expect(name, module, "PNETCDF_VAR_DATATYPE_SIZE", 8);
    expect(name, module, "PNETCDF_VAR_IS_RECORD_VAR", 1);
}

static void expect_fixed(void)
{
    const char *name = "/calls.nc:fixed", *module = "PNETCDF_VAR";
    expect(name, module, "PNETCDF_VAR_OPENS", ranks);
    expect(name, module, "PNETCDF_VAR_INDEP_WRITES", ranks);
    expect(name, module, "PNETCDF_VAR_INDEP_READS", ranks);
    expect(name, module, "PNETCDF_VAR_NB_READS", ranks);
    expect(name, module, "PNETCDF_VAR_PUT_VAR", ranks);
    expect(name, module, "PNETCDF_VAR_GET_VAR1", ranks);
    expect(name, module, "PNETCDF_VAR_IGET_VAR", ranks);
    expect(name, module, "PNETCDF_VAR_BYTES_WRITTEN", ranks * 32);
    expect(name, module, "PNETCDF_VAR_BYTES_READ", ranks * 36);
    expect(name, module, "PNETCDF_VAR_IS_RECORD_VAR", 0);
    expect(name, module, "PNETCDF_VAR_DATATYPE_SIZE", 4);
}

static void expect_file(MPI_Offset written, MPI_Offset read)
{
    const char *name = "/calls.nc", *module = "PNETCDF_FILE";
    long long mine[2] = {written, read}, total[2];
    MPI_Reduce(mine, total, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    expect(name, module, "PNETCDF_FILE_CREATES", ranks);
    expect(name, module, "PNETCDF_FILE_OPENS", ranks);
    expect(name, module, "PNETCDF_FILE_REDEFS", ranks);
    expect(name, module, "PNETCDF_FILE_INDEP_WAITS", ranks);
    expect(name, module, "PNETCDF_FILE_COLL_WAITS", ranks);
    expect(name, module, "PNETCDF_FILE_SYNCS", ranks);
    expect(name, module, "PNETCDF_FILE_WAIT_FAILURES", 0);
    expect(name, module, "PNETCDF_FILE_BYTES_WRITTEN", total[0]);
    expect(name, module, "PNETCDF_FILE_BYTES_READ", total[1]);
}

int main(int argc, char **argv)
{
    char path[4096];
    int nc, dimensions[3], eight, field, fixed;
    MPI_Offset written = 0, read = 0, read_later = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s/calls.nc", argc == 2 ? argv[1] : ".");
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &nc));
    CHECK(ncmpi_def_dim(nc, "time", NC_UNLIMITED, &dimensions[0]));
    CHECK(ncmpi_def_dim(nc, "row", ROWS, &dimensions[1]));
    CHECK(ncmpi_def_dim(nc, "column", COLUMNS, &dimensions[2]));
    CHECK(ncmpi_def_dim(nc, "eight", 8, &eight));
    CHECK(ncmpi_def_var(nc, "field", NC_DOUBLE, 3, dimensions, &field));
    CHECK(ncmpi_def_var(nc, "fixed", NC_INT, 1, &eight, &fixed));
    CHECK(ncmpi_enddef(nc));
    collective(nc, field);
    by_file_type(nc, field);
    nonblocking(nc, field);
    independent(nc, fixed);
    CHECK(ncmpi_sync(nc));
    CHECK(ncmpi_redef(nc));
    CHECK(ncmpi_enddef(nc));
    CHECK(ncmpi_inq_put_size(nc, &written));
    CHECK(ncmpi_inq_get_size(nc, &read));
    CHECK(ncmpi_close(nc));
    CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &nc));
    CHECK(ncmpi_inq_varid(nc, "field", &field));
    CHECK(ncmpi_inq_get_size(nc, &read_later));
    CHECK(ncmpi_close(nc));
    expect_file(written, read + read_later);
    expect_field();
    expect_fixed();
    several(argc == 2 ? argv[1] : ".");
    MPI_Finalize();
    return 0;
}
