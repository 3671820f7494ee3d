/* Ranks sleep for SECONDS, which is most of the run (`sleeps`), or compute for SECONDS each, in steps with a
 * reduction after each (`works`). Each rank prints how long its first thread waited for a core, as the kernel
 * counts it. Usage: time_ranks sleeps|works SECONDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 10, ASLEEP_TO_START = 9 };

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

/* Returns the seconds since this process began. */
static double age(void)
{
    unsigned long long begin = 0;
    char line[4096], *behind_name;
    struct timespec time;
    FILE *file = fopen("/proc/self/stat", "r");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[length] = 0;
    behind_name = strrchr(line, ')');
    if (!behind_name ||
        sscanf(behind_name,
               ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &begin) != 1)
        return 0;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec - (double)begin / (double)sysconf(_SC_CLK_TCK);
}

/* Sleeps on every rank for so long that the start of the ranks is a small part of the run, even on a busy
 * machine. */
static void sleep_long(double seconds)
{
    double wanted = ASLEEP_TO_START * age();
    wanted = wanted > seconds ? wanted : seconds;
    MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    usleep((useconds_t)(1e6 * wanted));
}

int main(int count, char **words)
{
    int rank;
    double one = 1, all, seconds = atof(words[2]);
    unsigned long long on_core = 0, waited = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(words[1], "sleeps") == 0)
        sleep_long(seconds);
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
