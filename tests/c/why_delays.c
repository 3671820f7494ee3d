/* Runs four ranks, of which one delays others by a planted write: `why_delays PATTERN`. why_delays.F90 and
 * tests/bench/why_delays.py have the same patterns, except those of one-sided communication. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "why_delay.h"

enum { STEPS = 3, LARGE = 1 << 18 };

static int rank, ranks;
static char data[LARGE], more[LARGE];
static char exposed[64];
static MPI_Comm half;
static MPI_Win window;
static MPI_Group outer, middle;

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

static void fence(int step)
{
    work(20);
    if (rank == 2)
        planted_delay(step);
    MPI_Win_fence(0, window);
    MPI_Put(data, 8, MPI_CHAR, (rank + 1) % ranks, 0, 8, MPI_CHAR, window);
    MPI_Win_fence(0, window);
}

/* Delays rank 1, which exposes its memory late; ranks 0 and 2 write into it. */
static void late_post(int step)
{
    work(20);
    if (rank == 1) {
        planted_delay(step);
        MPI_Win_post(outer, 0, window);
        MPI_Win_wait(window);
    } else if (rank < 3) {
        MPI_Win_start(middle, 0, window);
        MPI_Put(data, 8, MPI_CHAR, 1, 8 * rank, 8, MPI_CHAR, window);
        MPI_Win_complete(window);
    }
}

/* Delays rank 0, so that rank 1 waits until rank 0 has written into its memory. */
static void early_wait(int step)
{
    work(20);
    if (rank == 1) {
        MPI_Win_post(outer, 0, window);
        MPI_Win_wait(window);
    } else if (rank < 3) {
        MPI_Win_start(middle, 0, window);
        MPI_Put(data, 8, MPI_CHAR, 1, 8 * rank, 8, MPI_CHAR, window);
        if (rank == 0)
            planted_delay(step);
        MPI_Win_complete(window);
    }
}

/* Delays rank 1 while it holds a lock that rank 2 wants. */
static void locked(int step)
{
    work(rank == 1 ? 20 : 60);
    if (rank == 1 || rank == 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(data, 8, MPI_CHAR, 0, 8 * rank, 8, MPI_CHAR, window);
        MPI_Win_flush(0, window);
        if (rank == 1)
            planted_delay(step);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void make_window(void)
{
    int around[] = {0, 2}, between = 1;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, around, &outer);
    MPI_Group_incl(all, 1, &between, &middle);
    MPI_Group_free(&all);
    MPI_Win_create(exposed, sizeof exposed, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
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
                {"partly_hidden", partly_hidden},
                {"fence", fence},
                {"late_post", late_post},
                {"early_wait", early_wait},
                {"locked", locked}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_window();
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        for (int step = 0; step < STEPS && strcmp(patterns[i].name, argv[1]) == 0; step++)
            patterns[i].run(step);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
