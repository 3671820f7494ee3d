/* Measures MPI calls on one rank: mpi_cost CALL TIMES [REPEATS] prints the fewest ns a call of all
 * repeats. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void probe(void)
{
    int there;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

static void exchange(void)
{
    static char out[8], in[8];
    MPI_Sendrecv(out, 8, MPI_BYTE, 0, 2, in, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(void)
{
    static double in, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(void);
} CALLS[] = {{"Iprobe", probe}, {"Sendrecv", exchange}, {"Allreduce", reduce}};

int main(int argc, char **argv)
{
    double best = 0;
    MPI_Init(&argc, &argv);
    long times = argc > 2 ? atol(argv[2]) : 0, repeats = argc > 3 ? atol(argv[3]) : 5;
    for (size_t i = 0; argc > 2 && i < sizeof CALLS / sizeof *CALLS; i++)
        for (long repeat = 0; strcmp(argv[1], CALLS[i].name) == 0 && repeat < repeats; repeat++) {
            double begin = MPI_Wtime();
            for (long k = 0; k < times; k++)
                CALLS[i].call();
            double ns = 1e9 * (MPI_Wtime() - begin) / (double)times;
            best = best == 0 || ns < best ? ns : best;
        }
    MPI_Finalize();
    printf("%.1f\n", best);
    return best == 0;
}
