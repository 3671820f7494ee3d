/* Each rank writes a file for each item and step, or one file for itself. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ITEMS 1200

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[64], item[512];
    mkdir("out", 0755);
    sprintf(name, "out/rank%d", rank);
    FILE *stream = cured ? fopen(name, "wb") : NULL;
    for (int i = 0; i < ITEMS; i++) {
        memset(item, 'a' + i % 26, sizeof item);
        if (!cured) {
            sprintf(name, "out/rank%d_item%05d", rank, i);
            stream = fopen(name, "wb");
        }
        fwrite(item, sizeof item, 1, stream);
        if (!cured)
            fclose(stream);
    }
    if (cured)
        fclose(stream);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("items of each rank %d\n", ITEMS);
    MPI_Finalize();
    return 0;
}
