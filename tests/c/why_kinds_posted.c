/* Collective calls that are posted, and completed later. */
#include "why_kinds.h"

static MPI_Request request;

static void complete(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

static void ibarrier_late(void)
{
    if (rank_is(2))
        planted_delay(0);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    complete();
    work(200);
}

/* All ranks post, then one is outside of MPI while the others complete. */
static void ibarrier_absent(void)
{
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank_is(1))
        planted_delay(0);
    complete();
    work(200);
}

static void absent_inner_node(void)
{
    MPI_Ibcast(kind_sent, LARGE, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    if (rank_is(2))
        planted_delay(0);
    complete();
    work(rank_is(3) ? 1500 : 100);
}

static void ibcast_small_absent(void)
{
    MPI_Ibcast(kind_sent, SMALL, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    if (rank_is(2))
        planted_delay(0);
    complete();
    work(rank_is(3) ? 1500 : 100);
}

static void ibcast_absent_root(void)
{
    MPI_Ibcast(kind_sent, LARGE, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    if (rank_is(0))
        planted_delay(0);
    complete();
    work(300);
}

static void iallreduce_absent(void)
{
    MPI_Iallreduce(kind_sent, kind_received, LARGE / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank_is(3))
        planted_delay(0);
    complete();
    work(rank_is(0) ? 800 : 100);
}

static void iallreduce_small_absent(void)
{
    MPI_Iallreduce(kind_sent, kind_received, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank_is(3))
        planted_delay(0);
    complete();
    work(rank_is(0) ? 800 : 100);
}

static void ialltoall_absent(void)
{
    MPI_Ialltoall(kind_sent, LARGE, MPI_CHAR, kind_received, LARGE, MPI_CHAR, MPI_COMM_WORLD, &request);
    if (rank_is(1))
        planted_delay(0);
    complete();
    work(rank_is(0) ? 600 : 100);
}

static void ireduce_late_leaf(void)
{
    if (rank_is(3))
        planted_delay(0);
    MPI_Ireduce(kind_sent, kind_received, 1000, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    complete();
    work(rank_is(0) ? 800 : 0);
}

static void igather_absent_leaf(void)
{
    MPI_Igather(kind_sent, LARGE, MPI_CHAR, kind_received, LARGE, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    if (rank_is(3))
        planted_delay(0);
    complete();
    work(rank_is(0) ? 800 : 0);
}

static void iscatter_absent_root(void)
{
    MPI_Iscatter(kind_sent, LARGE, MPI_CHAR, kind_received, LARGE, MPI_CHAR, 1, MPI_COMM_WORLD, &request);
    if (rank_is(1))
        planted_delay(0);
    complete();
    work(rank_is(0) ? 700 : 0);
}

/* The others ask again and again. */
static void iallgather_tested(void)
{
    int done = 0;
    if (rank_is(2))
        planted_delay(0);
    MPI_Iallgather(kind_sent, 1000, MPI_CHAR, kind_received, 1000, MPI_CHAR, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    work(200);
}

/* The others ask now and then, and sleep in between. */
static void ibarrier_tested_asleep(void)
{
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank_is(0))
        planted_delay(0);
    while (!done) {
        work(5);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    work(200);
}

/* One rank writes while the others compute. */
static void ibarrier_hidden(void)
{
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank_is(2))
        planted_delay(0);
    else
        work(2500);
    complete();
}

static void ibcasts_outstanding(void)
{
    MPI_Request both[2];
    MPI_Ibcast(kind_sent, LARGE, MPI_CHAR, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Ibcast(kind_received, LARGE, MPI_CHAR, 2, MPI_COMM_WORLD, &both[1]);
    if (rank_is(1))
        planted_delay(0);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    work(rank_is(3) ? 900 : 0);
}

/* A message waits behind a posted collective call that does not advance. */
static void ibarrier_then_message(void)
{
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank_is(2))
        planted_delay(0);
    complete();
    if (rank_is(0))
        MPI_Send(kind_sent, SMALL, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    if (rank_is(1))
        MPI_Recv(kind_received, SMALL, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(rank_is(1) ? 900 : 0);
}

static void iscan_late(void)
{
    if (rank_is(1))
        planted_delay(0);
    MPI_Iscan(kind_sent, kind_received, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    work(rank_is(3) ? 900 : 0);
}

const struct why_kind posted_kinds[] = {{"ibarrier_late", ibarrier_late},
                                        {"ibarrier_absent", ibarrier_absent},
                                        {"ibcast_absent_inner", absent_inner_node},
                                        {"ibcast_small_absent", ibcast_small_absent},
                                        {"ibcast_absent_root", ibcast_absent_root},
                                        {"iallreduce_absent", iallreduce_absent},
                                        {"iallreduce_small_absent", iallreduce_small_absent},
                                        {"ialltoall_absent", ialltoall_absent},
                                        {"ireduce_late_leaf", ireduce_late_leaf},
                                        {"igather_absent_leaf", igather_absent_leaf},
                                        {"iscatter_absent_root", iscatter_absent_root},
                                        {"iallgather_tested", iallgather_tested},
                                        {"ibarrier_tested_asleep", ibarrier_tested_asleep},
                                        {"ibarrier_hidden", ibarrier_hidden},
                                        {"ibcasts_outstanding", ibcasts_outstanding},
                                        {"ibarrier_then_message", ibarrier_then_message},
                                        {"iscan_late", iscan_late},
                                        {NULL, NULL}};
