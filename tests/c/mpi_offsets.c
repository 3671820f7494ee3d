/* Makes transfers through views, with all kinds of file pointers. Every rank writes to
 * <folder>/expected.<rank> a line "write" or "read", the file offset of the first byte (-1: nobody knows) and
 * the bytes of each call. mpi_offsets FOLDER */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file view: HEAD bytes, then ITEMS items in three blocks, which repeat after EXTENT items. */
enum { HEAD = 100, ITEM = 8, ITEMS = 5, EXTENT = 9 };
static const int lengths[3] = {2, 1, 2}, places[3] = {0, 5, 7}, within[ITEMS] = {0, 1, 5, 7, 8};

static int rank;
static FILE *expected;
static long long data[4096];

static void must(int code)
{
    if (code != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Returns the file offset of item n of the view. */
static long long place(long long n)
{
    return HEAD + 1000LL * rank + (n / ITEMS * EXTENT + within[n % ITEMS]) * ITEM;
}

static void expect(const char *kind, long long offset, int items)
{
    fprintf(expected, "%s %lld %d\n", kind, offset, items * ITEM);
}

static void set_view(MPI_File file, MPI_Datatype item)
{
    MPI_Datatype type;
    must(MPI_Type_indexed(3, lengths, places, item, &type));
    must(MPI_Type_commit(&type));
    must(MPI_File_set_view(file, HEAD + 1000 * rank, item, type, "native", MPI_INFO_NULL));
    must(MPI_Type_free(&type));
}

static void through_a_view(MPI_File file)
{
    MPI_Request request;
    set_view(file, MPI_LONG_LONG);
    must(MPI_File_write(file, data, 4, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("write", place(0), 4);
    must(MPI_File_write_all(file, data, 3, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("write", place(4), 3);
    must(MPI_File_write_at(file, 20, data, 5, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("write", place(20), 5);
    must(MPI_File_write_at_all(file, 32, data, 2, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("write", place(32), 2);
    must(MPI_File_seek(file, 5, MPI_SEEK_SET));
    must(MPI_File_read(file, data, 2, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("read", place(5), 2);
    must(MPI_File_iwrite(file, data, 1, MPI_LONG_LONG, &request));
    expect("write", place(7), 1);
    must(MPI_Wait(&request, MPI_STATUS_IGNORE));
    must(MPI_File_read_at_all_begin(file, 11, data, 1, MPI_LONG_LONG));
    must(MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE));
    expect("read", place(11), 1);
}

static void without_a_view(MPI_File file)
{
    must(MPI_File_write_at(file, 40000 + rank, data, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("write", 40000 + rank, 1);
    must(MPI_File_seek(file, 50000 + 8 * rank, MPI_SEEK_SET));
    must(MPI_File_write_all(file, data, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("write", 50000 + 8 * rank, 1);
    must(MPI_File_write_shared(file, data, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("write", -1, 1);
    must(MPI_File_read_ordered(file, data, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("read", -1, 1);
}

/* Writes nothing through an empty view. MPI libraries divide by the size of the view's file type, which is 0,
 * so that a write of more than nothing would fail. */
static void through_an_empty_view(MPI_File file)
{
    MPI_Datatype nothing;
    must(MPI_Type_contiguous(0, MPI_LONG_LONG, &nothing));
    must(MPI_Type_commit(&nothing));
    must(MPI_File_set_view(file, 0, MPI_LONG_LONG, nothing, "native", MPI_INFO_NULL));
    must(MPI_File_write_all(file, data, 0, MPI_LONG_LONG, MPI_STATUS_IGNORE));
    expect("write", -1, 0);
    must(MPI_Type_free(&nothing));
}

int main(int count, char **argument)
{
    char path[4096];
    MPI_File file;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/expected.%d", argument[1], rank);
    expected = fopen(path, "w");
    snprintf(path, sizeof path, "%s/viewed", argument[1]);
    must(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    without_a_view(file);
    through_a_view(file);
    through_an_empty_view(file);
    must(MPI_File_close(&file));
    fclose(expected);
    MPI_Finalize();
    return 0;
}
