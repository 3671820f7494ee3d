/* Rank 0 gathers the numbers of all and writes them as text, or each rank writes its own lines. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

#define STEPS  20
#define VALUES 60000
#define WIDTH  20 /* bytes of a line */

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *mine = malloc(VALUES * sizeof *mine), *all = malloc(VALUES * ranks * sizeof *all);
    char *lines = malloc((size_t)VALUES * WIDTH + 1);
    FILE *stream = cured || rank ? NULL : fopen("fields.txt", "w");
    int file = cured ? open("fields.txt", O_CREAT | O_WRONLY, 0644) : -1;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < VALUES; i++)
            mine[i] = step + rank * 1000.0 + i * 1.37e-3;
        if (cured) {
            for (int i = 0; i < VALUES; i++)
                sprintf(lines + (size_t)i * WIDTH, "%19.11e\n", mine[i]);
            off_t place = ((off_t)step * ranks + rank) * VALUES * WIDTH;
            if (pwrite(file, lines, (size_t)VALUES * WIDTH, place) != VALUES * WIDTH)
                MPI_Abort(MPI_COMM_WORLD, 1);
            continue;
        }
        MPI_Gather(mine, VALUES, MPI_DOUBLE, all, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; !rank && i < VALUES * ranks; i++)
            fprintf(stream, "%19.11e\n", all[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (stream)
        fclose(stream);
    if (file >= 0)
        close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("lines %d\n", STEPS * VALUES * ranks);
    MPI_Finalize();
    return 0;
}
