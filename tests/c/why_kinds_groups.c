/* Intercommunicators and neighbourhoods. */
#include "why_kinds.h"

/* Ranks 0 and 1 on one side, 2 and 3 on the other. */
static MPI_Comm two_sides(void)
{
    MPI_Comm mine, both;
    MPI_Comm_split(MPI_COMM_WORLD, kind_rank / 2, kind_rank, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, kind_rank < 2 ? 2 : 0, 9, &both);
    MPI_Comm_free(&mine);
    return both;
}

static void inter_barrier(void)
{
    MPI_Comm both = two_sides();
    if (rank_is(3))
        planted_delay(0);
    MPI_Barrier(both);
    work(300);
}

static void inter_bcast(void)
{
    MPI_Comm both = two_sides();
    if (rank_is(0))
        planted_delay(0);
    MPI_Bcast(kind_sent, SMALL, MPI_CHAR, kind_rank < 2 ? rank_is(0) ? MPI_ROOT : MPI_PROC_NULL : 0, both);
    work(kind_rank < 2 ? 0 : 500);
}

static void inter_allreduce(void)
{
    MPI_Comm both = two_sides();
    if (rank_is(1))
        planted_delay(0);
    MPI_Allreduce(kind_sent, kind_received, 10, MPI_DOUBLE, MPI_SUM, both);
    work(kind_rank < 2 ? 0 : 500);
}

static void inter_gather(void)
{
    MPI_Comm both = two_sides();
    if (rank_is(3))
        planted_delay(0);
    MPI_Gather(kind_sent, SMALL, MPI_CHAR, kind_received, SMALL, MPI_CHAR,
               kind_rank < 2 ? rank_is(0) ? MPI_ROOT : MPI_PROC_NULL : 0, both);
    work(rank_is(0) ? 500 : 0);
}

/* The fourth rank of the world sends to the first, by its rank in the other group. */
static void inter_message(void)
{
    MPI_Comm both = two_sides();
    if (rank_is(3)) {
        planted_delay(0);
        MPI_Send(kind_sent, SMALL, MPI_CHAR, 0, 5, both);
    } else if (rank_is(0)) {
        MPI_Recv(kind_received, SMALL, MPI_CHAR, 1, 5, both, MPI_STATUS_IGNORE);
        work(500);
    }
}

static void inter_message_to_late(void)
{
    MPI_Comm both = two_sides();
    if (rank_is(3)) {
        planted_delay(0);
        MPI_Recv(kind_received, LARGE, MPI_CHAR, 0, 5, both, MPI_STATUS_IGNORE);
    } else if (rank_is(0)) {
        MPI_Send(kind_sent, LARGE, MPI_CHAR, 1, 5, both);
        work(700);
    }
}

static void inter_create_late(void)
{
    if (rank_is(2))
        planted_delay(0);
    MPI_Comm both = two_sides();
    MPI_Barrier(both);
    work(200);
}

static void inter_merge_late(void)
{
    MPI_Comm both = two_sides(), all;
    if (rank_is(1))
        planted_delay(0);
    MPI_Intercomm_merge(both, kind_rank < 2, &all);
    MPI_Barrier(all);
    work(200);
}

/* A line of ranks: 0 - 1 - 2 - 3. */
static MPI_Comm line(int periodic)
{
    int ranks = RANKS;
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &cart);
    return cart;
}

static void neighbour_ring(void)
{
    MPI_Comm cart = line(1);
    for (int step = 0; step < 3; step++) {
        work(50);
        if (rank_is(1) && step == 1)
            planted_delay(0);
        MPI_Neighbor_allgather(kind_sent, 1000, MPI_CHAR, kind_received, 1000, MPI_CHAR, cart);
    }
    work(300);
}

/* Rank 3 is no neighbour of rank 0: nothing keeps rank 3 waiting in the only step. */
static void neighbour_line(void)
{
    MPI_Comm cart = line(0);
    if (rank_is(0))
        planted_delay(0);
    MPI_Neighbor_alltoall(kind_sent, 1000, MPI_CHAR, kind_received, 1000, MPI_CHAR, cart);
    work(rank_is(3) ? 1500 : rank_is(1) ? 500 : 0);
}

static void neighbour_large_ring(void)
{
    MPI_Comm cart = line(1);
    if (rank_is(2))
        planted_delay(0);
    MPI_Neighbor_alltoall(kind_sent, LARGE, MPI_CHAR, kind_received, LARGE, MPI_CHAR, cart);
    work(rank_is(1) ? 600 : 0);
}

/* Each rank sends to the next, directed: 0 to 1, 1 to 2, 2 to 3. */
static MPI_Comm directed(void)
{
    MPI_Comm graph;
    int before = kind_rank - 1, after = kind_rank + 1, weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, kind_rank > 0, &before, &weight, kind_rank < RANKS - 1,
                                   &after, &weight, MPI_INFO_NULL, 0, &graph);
    return graph;
}

static void graph_late_source(void)
{
    MPI_Comm graph = directed();
    int counts[] = {100}, starts[] = {0};
    if (rank_is(1))
        planted_delay(0);
    MPI_Neighbor_alltoallv(kind_sent, counts, starts, MPI_CHAR, kind_received, counts, starts, MPI_CHAR,
                           graph);
    work(rank_is(2) ? 500 : 0);
}

/* A small message to a late rank is buffered, so that its sender need not wait. */
static void graph_late_target(void)
{
    MPI_Comm graph = directed();
    if (rank_is(3))
        planted_delay(0);
    MPI_Neighbor_allgather(kind_sent, SMALL, MPI_CHAR, kind_received, SMALL, MPI_CHAR, graph);
    work(rank_is(2) ? 1500 : 0);
}

static void graph_posted_absent(void)
{
    MPI_Comm graph = directed();
    MPI_Request request;
    MPI_Ineighbor_allgather(kind_sent, LARGE, MPI_CHAR, kind_received, LARGE, MPI_CHAR, graph, &request);
    if (rank_is(1))
        planted_delay(0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    work(rank_is(2) ? 700 : 0);
}

static void inter_posted(void)
{
    MPI_Comm both = two_sides();
    MPI_Request request;
    if (rank_is(3))
        planted_delay(0);
    MPI_Ibarrier(both, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    work(300);
}

const struct why_kind group_kinds[] = {{"inter_barrier", inter_barrier},
                                       {"inter_bcast", inter_bcast},
                                       {"inter_allreduce", inter_allreduce},
                                       {"inter_gather", inter_gather},
                                       {"inter_message", inter_message},
                                       {"inter_message_to_late", inter_message_to_late},
                                       {"inter_create_late", inter_create_late},
                                       {"inter_merge_late", inter_merge_late},
                                       {"inter_posted", inter_posted},
                                       {"neighbour_ring", neighbour_ring},
                                       {"neighbour_line", neighbour_line},
                                       {"neighbour_large_ring", neighbour_large_ring},
                                       {"graph_late_source", graph_late_source},
                                       {"graph_late_target", graph_late_target},
                                       {"graph_posted_absent", graph_posted_absent},
                                       {NULL, NULL}};
