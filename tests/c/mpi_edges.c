/* Makes calls at the edges of the MPI standard, and states the expected counts, computed by hand: arguments
 * that MPI ignores, neighbours that do not exist, requests that are freed, cancelled or inactive, types
 * without data. */
#include <mpi.h>
#include <string.h>

#include "mpi_expect.h"

static char in[4][256], out[256];
static int right, left;

static void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    expect("Barrier", 1, 0, 0, 0);
}

/* Makes calls with MPI_NO_OP, which send nothing to the target, whatever the other arguments are. */
static void nothing_is_sent(MPI_Win win, int target, int peer)
{
    double result[4];
    MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, result, 3, MPI_DOUBLE, target, 0, 3, MPI_DOUBLE, MPI_NO_OP, win);
    MPI_Get_accumulate(out, 2, MPI_DOUBLE, result, 2, MPI_DOUBLE, target, 0, 2, MPI_DOUBLE, MPI_NO_OP, win);
    expect("Get_accumulate", 2, 0, 40, 2), from(peer, 24), from(peer, 16);
    MPI_Fetch_and_op(out, result, MPI_DOUBLE, target, 1, MPI_NO_OP, win);
    expect("Fetch_and_op", 1, 0, 8, 1), from(peer, 8);
}

static void with_requests(MPI_Win win, int target, int peer)
{
    double data[4] = {0}, result[4], other[4];
    MPI_Request request[4];
    MPI_Rput(data, 2, MPI_DOUBLE, target, 0, 2, MPI_DOUBLE, win, &request[0]);
    MPI_Rget(result, 2, MPI_DOUBLE, target, 5, 2, MPI_DOUBLE, win, &request[1]);
    MPI_Raccumulate(data, 1, MPI_DOUBLE, target, 2, 1, MPI_DOUBLE, MPI_SUM, win, &request[2]);
    MPI_Rget_accumulate(data, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, MPI_SUM, win,
                        &request[3]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    expect("Rput", 1, 16, 0, 1), to(peer, 16), expect("Rget", 1, 0, 16, 1), from(peer, 16);
    expect("Raccumulate", 1, 8, 0, 1), to(peer, 8), expect("Rget_accumulate", 1, 8, 8, 2);
    to(peer, 8), from(peer, 8), expect("Waitall", 1, 0, 0, 0);
}

static void every_access(MPI_Win win, int target, int peer)
{
    double data[4] = {0}, result[4];
    long long one = 1, zero = 0, found;
    nothing_is_sent(win, target, peer);
    MPI_Win_flush(target, win);
    MPI_Get_accumulate(data, 2, MPI_DOUBLE, result, 2, MPI_DOUBLE, target, 0, 2, MPI_DOUBLE, MPI_REPLACE,
                       win);
    expect("Get_accumulate", 1, 16, 16, 2), to(peer, 16), from(peer, 16);
    MPI_Compare_and_swap(&one, &zero, &found, MPI_LONG_LONG, target, 4, win);
    expect("Compare_and_swap", 1, 8, 8, 2), to(peer, 8), from(peer, 8);
    MPI_Win_flush_local(target, win);
    with_requests(win, target, peer);
    MPI_Get(result, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, 4, MPI_DOUBLE, win);
    expect("Get", 1, 0, 0, 0), expect("Win_flush", 1, 0, 0, 0), expect("Win_flush_local", 1, 0, 0, 0);
}

/* Makes windows of all ranks, of all ranks in reverse order, and of each half of the ranks. MPI may give each
 * window the handle of the window that was freed before. */
static void windows(void)
{
    const struct {
        int color, key, target, peer;
    } groups[3] = {{0, rank, 2, 2}, {0, -rank, 0, RANKS - 1}, {rank / 2, rank, 1, rank / 2 * 2 + 1}};
    for (int turn = 0; turn < 3; turn++) {
        double *memory;
        MPI_Comm comm;
        MPI_Win win;
        MPI_Comm_split(MPI_COMM_WORLD, groups[turn].color, groups[turn].key, &comm);
        MPI_Win_allocate(64, 8, MPI_INFO_NULL, comm, &memory, &win);
        MPI_Win_lock_all(0, win);
        every_access(win, groups[turn].target, groups[turn].peer);
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
        MPI_Comm_free(&comm);
        expect("Comm_split", 1, 0, 0, 0), expect("Win_allocate", 1, 0, 0, 0), expect("Win_free", 1, 0, 0, 0);
        expect("Comm_free", 1, 0, 0, 0), expect("Win_lock_all", 1, 0, 0, 0);
        expect("Win_unlock_all", 1, 0, 0, 0);
    }
}

/* Exposes the window of rank 0; the other ranks start an access to it and complete it. */
static void posted_windows(void)
{
    double memory[RANKS] = {0}, value = 1;
    int nobody_else = 0, others[RANKS - 1] = {1, 2, 3};
    MPI_Group all, group;
    MPI_Win win;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, rank == 0 ? RANKS - 1 : 1, rank == 0 ? others : &nobody_else, &group);
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
        expect("Win_post", 1, 0, 0, 0), expect("Win_wait", 1, 0, 0, 0);
    } else {
        MPI_Win_start(group, 0, win);
        MPI_Put(&value, 1, MPI_DOUBLE, 0, rank, 1, MPI_DOUBLE, win);
        MPI_Win_complete(win);
        expect("Win_start", 1, 0, 0, 0), expect("Win_complete", 1, 0, 0, 0), expect("Put", 1, 8, 0, 1),
            to(0, 8);
    }
    MPI_Win_free(&win);
    expect("Win_create", 1, 0, 0, 0), expect("Win_free", 1, 0, 0, 0);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

/* Exchanges with the neighbours in a line. At its ends a rank has only one neighbour; the missing neighbour
 * gets no message. */
static void lines(void)
{
    int size[1] = {RANKS}, open[1] = {0}, data[8] = {0}, found[8], counts[2] = {2, 3}, places[2] = {0, 4};
    int before = rank > 0, behind = rank < RANKS - 1;
    MPI_Aint wide[2] = {0, 16};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm line;
    MPI_Request request;
    MPI_Cart_create(MPI_COMM_WORLD, 1, size, open, 0, &line);
    MPI_Neighbor_allgather(data, 2, MPI_INT, found, 2, MPI_INT, line);
    expect("Cart_create", 1, 0, 0, 0), expect("Neighbor_allgather", 1, 8, 8 * (before + behind), 1);
    MPI_Neighbor_alltoall(data, 1, MPI_INT, found, 1, MPI_INT, line);
    expect("Neighbor_alltoall", 1, 4 * (before + behind), 4 * (before + behind), 1);
    MPI_Ineighbor_alltoall(data, 1, MPI_INT, found, 1, MPI_INT, line, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Ineighbor_alltoall", 1, 4 * (before + behind), 4 * (before + behind), 1),
        expect("Wait", 1, 0, 0, 0);
    int crossed[2] = {3, 2}, sent = 4 * (2 * before + 3 * behind), got = 4 * (3 * before + 2 * behind);
    MPI_Neighbor_alltoallv(data, counts, places, MPI_INT, found, crossed, places, MPI_INT, line);
    expect("Neighbor_alltoallv", 1, sent, got, 1);
    MPI_Neighbor_alltoallw(data, counts, wide, types, found, crossed, wide, types, line);
    expect("Neighbor_alltoallw", 1, sent, got, 1);
    MPI_Neighbor_allgatherv(data, rank + 1, MPI_INT, found, (int[]){rank, rank + 2}, places, MPI_INT, line);
    expect("Neighbor_allgatherv", 1, 4 * (rank + 1), 4 * (before * rank + behind * (rank + 2)), 1);
    MPI_Comm_free(&line);
    expect("Comm_free", 1, 0, 0, 0);
}

/* Exchanges along a directed graph: each rank sends to the next two ranks and receives from the previous two;
 * rank 0 also sends to itself. */
static void directed(void)
{
    int in_of[3] = {left, (rank + 2) % RANKS, 0}, out_of[3] = {right, (rank + 2) % RANKS, 0};
    int data[8] = {0}, found[8], more = rank == 0, counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2 + more, in_of, counts, 2 + more, out_of, counts,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoallv(data, counts, places, MPI_INT, found, counts, places, MPI_INT, graph);
    expect("Dist_graph_create_adjacent", 1, 0, 0, 0), expect("Comm_free", 1, 0, 0, 0);
    expect("Neighbor_alltoallv", 1, 12 + 12 * more, 12 + 12 * more, 1);
    MPI_Comm_free(&graph);
}

static void post(char *buffer, int tag, MPI_Request *request)
{
    MPI_Irecv(buffer, 256, MPI_CHAR, left, tag, MPI_COMM_WORLD, request);
    expect("Irecv", 1, 0, 0, 0);
}

static void say(int bytes, int tag)
{
    MPI_Send(out, bytes, MPI_CHAR, right, tag, MPI_COMM_WORLD);
    expect("Send", 1, bytes, 0, 1), to(right, bytes);
}

/* Frees and cancels receives. The bytes of a freed receive cannot be counted; a cancelled receive has none.
 */
static void given_up(void)
{
    MPI_Request request, lasting;
    post(in[0], 1, &request);
    MPI_Request_free(&request);
    say(11, 1);
    post(in[1], 2, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Request_free", 1, 0, 0, 0), expect("Cancel", 1, 0, 0, 0), expect("Wait", 1, 0, 0, 0);
    MPI_Recv_init(in[2], 256, MPI_CHAR, left, 3, MPI_COMM_WORLD, &lasting);
    MPI_Start(&lasting);
    MPI_Cancel(&lasting);
    MPI_Wait(&lasting, MPI_STATUS_IGNORE);
    together();
    MPI_Start(&lasting);
    say(13, 3);
    MPI_Wait(&lasting, MPI_STATUS_IGNORE);
    expect("Recv_init", 1, 0, 0, 0), expect("Start", 2, 0, 0, 0), expect("Cancel", 1, 0, 0, 0);
    expect("Wait", 2, 0, 13, 0), from(left, 13);
    MPI_Start(&lasting);
    MPI_Request_free(&lasting);
    say(17, 3);
    MPI_Send_init(out, 19, MPI_CHAR, right, 4, MPI_COMM_WORLD, &lasting);
    MPI_Start(&lasting);
    MPI_Request_free(&lasting);
    expect("Start", 2, 19, 0, 1), to(right, 19), expect("Send_init", 1, 0, 0, 0);
    expect("Request_free", 2, 0, 0, 0);
    MPI_Recv(in[3], 256, MPI_CHAR, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Recv", 1, 0, 19, 0), from(left, 19);
    together();
}

/* Cancels requests too late: one message has arrived, the other has been received. */
static void cancelled_in_vain(void)
{
    MPI_Request request;
    say(29, 6);
    MPI_Probe(left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    post(in[0], 6, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Probe", 1, 0, 0, 0), expect("Cancel", 1, 0, 0, 0), expect("Wait", 1, 0, 29, 0), from(left, 29);
    MPI_Isend(out, 31, MPI_CHAR, right, 7, MPI_COMM_WORLD, &request);
    expect("Isend", 1, 31, 0, 1), to(right, 31);
    MPI_Recv(in[1], 256, MPI_CHAR, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Recv", 1, 0, 31, 0), from(left, 31);
    together();
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Cancel", 1, 0, 0, 0), expect("Wait", 1, 0, 0, 0);
}

/* Completes an active receive among requests that are null or inactive. */
static void inactive(void)
{
    int index, flag, done, indices[4];
    MPI_Request request[4] = {MPI_REQUEST_NULL};
    MPI_Status status[4];
    MPI_Recv_init(in[0], 256, MPI_CHAR, left, 5, MPI_COMM_WORLD, &request[1]);
    MPI_Send_init(out, 23, MPI_CHAR, right, 5, MPI_COMM_WORLD, &request[2]);
    MPI_Recv_init(in[2], 256, MPI_CHAR, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &request[3]);
    expect("Recv_init", 2, 0, 0, 0), expect("Send_init", 1, 0, 0, 0);
    MPI_Testany(4, request, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Testsome(4, request, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Testall(4, request, &flag, status);
    MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(4, request, &done, indices, status);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    expect("Testany", 1, 0, 0, 0), expect("Testsome", 1, 0, 0, 0), expect("Testall", 1, 0, 0, 0);
    expect("Waitany", 1, 0, 0, 0), expect("Waitsome", 1, 0, 0, 0), expect("Waitall", 1, 0, 0, 0);
    MPI_Startall(3, request + 1);
    expect("Startall", 1, 23, 0, 1), to(right, 23);
    for (int open = 3; open > 0; open--) {
        MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
        expect("Waitany", 1, 0, index == 1 ? 23 : 0, 0);
        if (index == 1) /* Intel MPI may return another index. */
            from(left, 23);
    }
    for (int i = 1; i < 4; i++)
        MPI_Request_free(&request[i]);
    expect("Request_free", 3, 0, 0, 0);
}

/* Asks for the status of requests, which does not complete them. */
static void asked(void)
{
    MPI_Request request;
    post(in[0], 6, &request);
    say(29, 6);
    for (int there = 0; !there;) {
        MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
        expect("Request_get_status", 1, 0, 0, 0);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Wait", 1, 0, 29, 0), from(left, 29);
}

/* Receives messages as part of a larger type, as packed bytes, with an empty type, with many types or in an
 * unusual order. */
static void types(void)
{
    struct both {
        int number;
        double value;
    } pairs[4], wanted[4];
    MPI_Datatype pair, empty, far;
    int at = 0, found = 0;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE},
                           &pair);
    MPI_Type_contiguous(0, MPI_DOUBLE, &empty);
    MPI_Type_create_hvector(3, 2, -32, MPI_INT, &far);
    MPI_Type_commit(&pair), MPI_Type_commit(&empty), MPI_Type_commit(&far);
    memset(pairs, 0, sizeof pairs);
    MPI_Sendrecv(pairs, 2, pair, right, 6, wanted, 4, pair, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 24, 24, 1), to(right, 24), from(left, 24);
    MPI_Sendrecv(&found, 1, MPI_INT, right, 6, wanted, 4, pair, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 4, 4, 1), to(right, 4), from(left, 4);
    MPI_Sendrecv(out, 100, empty, right, 6, in[0], 5, empty, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 0, 0, 1), to(right, 0), from(left, 0);
    MPI_Sendrecv(out + 128, 1, far, right, 6, in[1], 6, MPI_INT, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 24, 24, 1), to(right, 24), from(left, 24);
    MPI_Pack(pairs, 1, pair, in[2], 256, &at, MPI_COMM_WORLD);
    MPI_Sendrecv(in[2], at, MPI_PACKED, right, 6, in[3], 256, MPI_PACKED, left, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, at, at, 1), to(right, at), from(left, at);
    MPI_Allgather(pairs, 0, pair, wanted, 0, pair, MPI_COMM_WORLD);
    expect("Allgather", 1, 0, 0, 0);
    MPI_Type_free(&pair), MPI_Type_free(&empty), MPI_Type_free(&far);
}

/* Makes collective calls in which a rank sends from the buffer that it receives into (MPI_IN_PLACE). */
static void in_place(void)
{
    int many[16] = {0}, counts[RANKS] = {1, 2, 3, 4}, places[RANKS] = {0, 1, 3, 6},
        same[RANKS] = {2, 2, 2, 2};
    int apart[RANKS] = {0, 2, 4, 6}, bytes[RANKS] = {0, 8, 16, 24}, root = rank == 3;
    MPI_Datatype ints[RANKS] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Gatherv(root ? MPI_IN_PLACE : many, rank + 1, MPI_INT, many, counts, places, MPI_INT, 3,
                MPI_COMM_WORLD);
    expect("Gatherv", 1, 4 * (rank + 1), root ? 40 : 0, 1);
    MPI_Scatterv(many, counts, places, MPI_INT, root ? MPI_IN_PLACE : many, rank + 1, MPI_INT, 3,
                 MPI_COMM_WORLD);
    expect("Scatterv", 1, root ? 40 : 0, 4 * (rank + 1), root);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, many, same, apart, MPI_INT, MPI_COMM_WORLD);
    expect("Alltoallv", 1, 32, 32, 1);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, many, same, bytes, ints, MPI_COMM_WORLD);
    expect("Alltoallw", 1, 32, 32, 1);
    MPI_Reduce_scatter(MPI_IN_PLACE, many, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Reduce_scatter", 1, 40, 4 * (rank + 1), 1);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, many, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Reduce_scatter_block", 1, 32, 8, 1);
    MPI_Scan(MPI_IN_PLACE, many, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Scan", 1, 8, 8, 1);
    MPI_Exscan(MPI_IN_PLACE, many, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Exscan", 1, 8, rank ? 8 : 0, 1);
}

static void in_place_at_once(void)
{
    int many[16] = {0}, counts[RANKS] = {1, 2, 3, 4}, places[RANKS] = {0, 1, 3, 6}, root = rank == 3;
    MPI_Request request;
    MPI_Ireduce(root ? MPI_IN_PLACE : many, many, 3, MPI_INT, MPI_SUM, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Ireduce", 1, 12, root ? 12 : 0, 1);
    MPI_Igather(root ? MPI_IN_PLACE : many, 2, MPI_INT, many, 2, MPI_INT, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Igather", 1, 8, root ? 32 : 0, 1);
    MPI_Iscatter(many, 2, MPI_INT, root ? MPI_IN_PLACE : many + 8, 2, MPI_INT, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Iscatter", 1, root ? 32 : 0, 8, root);
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, counts, places, MPI_INT, MPI_COMM_WORLD,
                    &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Iallgatherv", 1, 4 * (rank + 1), 40, 1);
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 2, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Ialltoall", 1, 32, 32, 1), expect("Wait", 5, 0, 0, 0);
}

/* Uses two groups of an intercommunicator, of three ranks and of one; the larger one has its ranks in reverse
 * order. */
static void between(void)
{
    int side = rank == 2, many[16] = {0}, found[16], here = side ? 1 : 3, there = RANKS - here;
    int root = side ? MPI_ROOT : 0, counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
    int theirs[3] = {3, 1, 0}, own;
    MPI_Comm half, inter, one;
    MPI_Comm_split(MPI_COMM_WORLD, side, -rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 3 : 2, 8, &inter);
    expect("Comm_split", 1, 0, 0, 0), expect("Intercomm_create", 1, 0, 0, 0);
    for (int i = 0; side && i < 3; i++) {
        MPI_Recv(found, 16, MPI_INT, MPI_ANY_SOURCE, i, inter, MPI_STATUS_IGNORE);
        expect("Recv", 1, 0, 4 * (i + 1), 0), from(theirs[i], 4 * (i + 1));
    }
    if (!side) {
        MPI_Send(many, own + 1, MPI_INT, 0, own, inter);
        expect("Send", 1, 4 * (own + 1), 0, 1), to(2, 4 * (own + 1));
    }
    MPI_Alltoall(many, 2, MPI_INT, found, 2, MPI_INT, inter);
    expect("Alltoall", 1, 8 * there, 8 * there, 1);
    MPI_Allreduce(many, found, 2, MPI_INT, MPI_SUM, inter);
    expect("Allreduce", 1, 8, 8, 1);
    MPI_Reduce(many, found, 2, MPI_INT, MPI_SUM, root, inter);
    expect("Reduce", 1, side ? 0 : 8, side ? 8 : 0, !side);
    MPI_Gatherv(many, side ? 0 : own + 1, MPI_INT, found, counts, places, MPI_INT, root, inter);
    expect("Gatherv", 1, side ? 0 : 4 * (own + 1), side ? 24 : 0, !side);
    MPI_Scatter(many, 2, MPI_INT, found, 2, MPI_INT, root, inter);
    expect("Scatter", 1, side ? 24 : 0, side ? 0 : 8, side);
    MPI_Intercomm_merge(inter, side, &one);
    MPI_Bcast(many, 4, MPI_INT, 0, one);
    expect("Intercomm_merge", 1, 0, 0, 0),
        expect("Bcast", 1, rank == 3 ? 16 : 0, rank == 3 ? 0 : 16, rank == 3);
    MPI_Comm_free(&one), MPI_Comm_free(&inter), MPI_Comm_free(&half);
    expect("Comm_free", 3, 0, 0, 0);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    right = (rank + 1) % RANKS, left = (rank + RANKS - 1) % RANKS;
    windows();
    posted_windows();
    lines();
    directed();
    given_up();
    cancelled_in_vain();
    inactive();
    asked();
    types();
    in_place();
    in_place_at_once();
    between();
    expect("Finalize", 1, 0, 0, 0);
    print_expected();
    MPI_Finalize();
    return 0;
}
