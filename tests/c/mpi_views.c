/* Sets one view after another and prints for each view where its bytes lie in the file, as MPI reports it:
 *   NUMBER BYTES OFFSET OFFSET …        the offsets of bytes 0, 1, … of the view's data
 * The last view is of a kind that the profiler does not decode: NUMBER unknown. */
#include <mpi.h>
#include <stdio.h>

enum { BYTES = 80, TYPES = 8 };

static MPI_Datatype subarray(int order)
{
    MPI_Datatype type;
    int whole[3] = {3, 4, 5}, part[3] = {2, 3, 2}, first[3] = {1, 0, 2};
    MPI_Type_create_subarray(3, whole, part, first, order, MPI_SHORT, &type);
    return type;
}

static void make(MPI_Datatype types[TYPES])
{
    int lengths[3] = {1, 3, 2}, places[3] = {0, 2, 9};
    MPI_Aint distances[2] = {4, 400};
    MPI_Datatype parts[2], vector;
    MPI_Type_contiguous(4, MPI_INT, &types[0]);
    MPI_Type_vector(3, 2, 5, MPI_INT, &types[1]);
    MPI_Type_indexed(3, lengths, places, MPI_SHORT, &types[2]);
    types[3] = subarray(MPI_ORDER_C);
    types[4] = subarray(MPI_ORDER_FORTRAN);
    parts[0] = types[2];
    parts[1] = types[1];
    MPI_Type_create_struct(2, (int[2]){1, 2}, distances, parts, &types[5]);
    MPI_Type_create_hvector(4, 1, 1000, types[1], &vector);
    MPI_Type_create_resized(vector, 0, 5000, &types[6]);
    MPI_Type_free(&vector);
    MPI_Type_create_darray(1, 0, 1, (int[1]){8}, (int[1]){MPI_DISTRIBUTE_BLOCK},
                           (int[1]){MPI_DISTRIBUTE_DFLT_DARG}, (int[1]){1}, MPI_ORDER_C, MPI_INT, &types[7]);
}

static void show(MPI_File file, int number)
{
    printf("%d %d", number, BYTES);
    for (int i = 0; i < BYTES; i++) {
        MPI_Offset offset;
        MPI_File_get_byte_offset(file, i, &offset);
        printf(" %lld", (long long)offset);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    MPI_Datatype types[TYPES];
    char path[512], data[BYTES] = {0};
    int rank;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/viewed", argc > 1 ? argv[1] : ".");
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    make(types);
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_commit(&types[i]);
        for (int again = 0; again < 2; again++)
            MPI_File_set_view(file, 16 + i, MPI_BYTE, types[i], "native", MPI_INFO_NULL);
        if (rank == 0 && i < TYPES - 1)
            show(file, i);
        else if (rank == 0)
            printf("%d unknown\n", i);
    }
    MPI_File_write_at_all(file, 0, data, 0, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_close(&file);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&types[i]);
    MPI_Finalize();
    return 0;
}
