/* Four ranks in which one delays others by a planted write: `why_delays PATTERN`. The same patterns are in
 * why_delays.F90 and why_delays.py. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "why_delay.h"

enum { STEPS = 3, LARGE = 1 << 18 };

static int rank, ranks;
static char data[LARGE], more[LARGE];
static MPI_Comm half;

static void late_sender(int step)
{
    work(20);
    if (rank == 0) {
        planted_delay(step);
        MPI_Send(data, 8, MPI_CHAR, 1, step, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(data, 8, MPI_CHAR, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void barrier(int step)
{
    work(20);
    if (rank == 2)
        planted_delay(step);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void late_root(int step)
{
    work(20);
    if (rank == 1)
        planted_delay(step);
    MPI_Bcast(data, LARGE, MPI_CHAR, 1, MPI_COMM_WORLD);
}

static void early_root(int step)
{
    double mine = rank, sum;
    work(20);
    if (rank == 3)
        planted_delay(step);
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        work(20);
    MPI_Bcast(data, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void chain(int step)
{
    if (rank == 0)
        planted_delay(step);
    else
        MPI_Recv(data, 8, MPI_CHAR, rank - 1, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(20);
    if (rank + 1 < ranks)
        MPI_Send(data, 8, MPI_CHAR, rank + 1, step, MPI_COMM_WORLD);
}

static void late_receiver(int step)
{
    work(20);
    if (rank == 0) {
        MPI_Ssend(data, 8, MPI_CHAR, 1, step, MPI_COMM_WORLD);
        work(20);
    } else if (rank == 1) {
        planted_delay(step);
        MPI_Recv(data, 8, MPI_CHAR, 0, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void halo(int step)
{
    MPI_Request requests[2];
    work(20);
    if (rank == 1)
        planted_delay(step);
    MPI_Irecv(more, LARGE, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, LARGE, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
    work(10);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void hidden(int step)
{
    if (rank == 3)
        planted_delay(step);
    else
        work(800);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void turns(int step)
{
    double mine = rank, sum;
    work(20);
    if (rank == step)
        planted_delay(step);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void halves(int step)
{
    if (rank < 2)
        work(100);
    if (rank == 3)
        planted_delay(step);
    MPI_Barrier(half);
}

static void workers(int step)
{
    work(20);
    if (rank == 2)
        planted_delay(step);
    for (int other = 1; other < ranks && rank == 0; other++)
        MPI_Recv(data, 8, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(data, 8, MPI_CHAR, 0, rank, MPI_COMM_WORLD);
    MPI_Bcast(data, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void partly_hidden(int step)
{
    if (rank == 0)
        planted_delay(step);
    else
        work(300);
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(int step);
} patterns[] = {{"late_sender", late_sender},
                {"barrier", barrier},
                {"late_root", late_root},
                {"early_root", early_root},
                {"chain", chain},
                {"late_receiver", late_receiver},
                {"halo", halo},
                {"hidden", hidden},
                {"turns", turns},
                {"halves", halves},
                {"workers", workers},
                {"partly_hidden", partly_hidden}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        for (int step = 0; step < STEPS && strcmp(patterns[i].name, argv[1]) == 0; step++)
            patterns[i].run(step);
    MPI_Finalize();
    return 0;
}
