/* One rank computes most of the work, or all the same; the output is small. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cured = argc > 1 && !strcmp(argv[1], "twin");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double mine = 0, all;
    for (int task = 0; task < 200; task++) {
        int owner = cured ? task % ranks : (task < 190 ? 0 : 1);
        if (owner != rank)
            continue;
        for (int i = 0; i < 1000000; i++)
            mine += sqrt((double)i + task) * 1e-9;
    }
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank) {
        FILE *stream = fopen("answer.txt", "w");
        fprintf(stream, "%.6f\n", all);
        fclose(stream);
        printf("answer %.6f\n", all);
    }
    MPI_Finalize();
    return 0;
}
