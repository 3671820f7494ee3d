/* Ranks that spend SECONDS asleep (`sleeps`), or that each need SECONDS of a core, in steps with a reduction
 * behind each (`works`). Each prints how long the kernel let its first thread wait for a core. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 10 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void work(double processor)
{
    volatile double sum = 0;
    for (double end = now() + processor; now() < end;)
        for (int i = 0; i < 1000; i++)
            sum += i;
}

int main(int count, char **words)
{
    int rank;
    double one = 1, all, seconds = atof(words[2]);
    unsigned long long on_core = 0, waited = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(words[1], "sleeps") == 0)
        usleep((useconds_t)(1e6 * seconds));
    for (int i = 0; i < STEPS && strcmp(words[1], "works") == 0; i++) {
        work(seconds / STEPS);
        MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    FILE *file = fopen("/proc/self/schedstat", "r");
    if (file && fscanf(file, "%llu %llu", &on_core, &waited) == 2)
        printf("rank %d waited %.6f\n", rank, 1e-9 * (double)waited);
    MPI_Finalize();
    return 0;
}
