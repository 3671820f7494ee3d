/* Four ranks wait for a planted write of one rank in ways whose partners `iolens run --why` cannot match, or
 * does not know: `why_apart partitioned | thread | scan | pairs`. Prints the seconds of
 * these writes. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "why_delay.h"

enum { STEPS = 3 };

static int rank;
static double delayed;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void delay(int step)
{
    double begin = now();
    planted_delay(step);
    delayed += now() - begin;
}

/* Sends a message in two parts from rank 0 to rank 1, if MPI has partitioned messages. */
static void send_parts(void)
{
#if MPI_VERSION >= 4
    static char data[16];
    MPI_Request request;
    if (rank == 0)
        MPI_Psend_init(data, 2, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else if (rank == 1)
        MPI_Precv_init(data, 2, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int step = 0; step < STEPS && rank < 2; step++) {
        MPI_Start(&request);
        if (rank == 0) {
            delay(step);
            MPI_Pready_range(0, 1, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank < 2)
        MPI_Request_free(&request);
#endif
}

static void *write_all(void *unused)
{
    for (int step = 0; step < STEPS; step++)
        delay(step);
    return unused;
}

/* The first thread of rank 0 waits for another thread, which writes. */
static void write_beside(void)
{
    pthread_t writer;
    if (rank == 0 && pthread_create(&writer, NULL, write_all, NULL) == 0)
        pthread_join(writer, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Lets lower ranks wait for rank 2 in scans, because MPI passes the data on along a tree of ranks. */
static void scan(void)
{
    static char mine[1 << 20], sum[1 << 20];
    for (int step = 0; step < STEPS; step++) {
        if (rank == 2)
            delay(step);
        MPI_Scan(mine, sum, sizeof mine, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Lets rank 0 wait for rank 2, which alone sends data in an exchange of all ranks. */
static void exchange_pairs(void)
{
    char data[8] = "", got[8];
    int none[4] = {0}, sent[4] = {rank == 2 ? 8 : 0}, received[4] = {0, 0, rank == 0 ? 8 : 0};
    for (int step = 0; step < STEPS; step++) {
        if (rank == 2)
            delay(step);
        MPI_Alltoallv(data, sent, none, MPI_CHAR, got, received, none, MPI_CHAR, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int provided;
    if (argc != 2)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "partitioned") == 0)
        send_parts();
    else if (strcmp(argv[1], "scan") == 0)
        scan();
    else if (strcmp(argv[1], "pairs") == 0)
        exchange_pairs();
    else
        write_beside();
    if (delayed > 0)
        printf("DELAYED %.6f\n", delayed);
    MPI_Finalize();
    return 0;
}
