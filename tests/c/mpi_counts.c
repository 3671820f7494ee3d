/* Makes MPI calls of every kind, and prints the counts that the log must have, which were computed by hand
 * from the meaning of the calls. Usage: mpi_counts [threads | killed] */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_expect.h"

enum { LONGEST = 1 << 17 };

/* Sends from rank 0 to rank 1 by Send, Ssend, Bsend, Isend, Issend and Sendrecv. */
static void send_all(char *buffer, double *numbers)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Send(numbers, 1000, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    expect("Send", 1, 8000, 0, 1), to(1, 8000);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    expect("Send", 1, 0, 0, 1), to(1, 0);
    MPI_Ssend(buffer, 100, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    expect("Ssend", 1, 100, 0, 1), to(1, 100);
    MPI_Bsend(buffer, 15, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    expect("Bsend", 1, 15, 0, 1), to(1, 15);
    MPI_Isend(buffer, LONGEST, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    expect("Isend", 1, LONGEST, 0, 1), to(1, LONGEST);
    MPI_Wait(&request, &status);
    expect("Wait", 1, 0, 0, 0);
    MPI_Issend(numbers, 3, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    expect("Issend", 1, 12, 0, 1), to(1, 12);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Wait", 1, 0, 0, 0);
    MPI_Send(buffer, 7, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    expect("Send", 1, 0, 0, 0);
    MPI_Sendrecv(buffer, 64, MPI_CHAR, 1, 2, numbers, 1000, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 64, 160, 1), to(1, 64), from(1, 160);
}

/* Receives on rank 1 from rank 0 with every kind of call. */
static void receive_all(char *buffer, double *numbers)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Recv(numbers, 1000, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &status);
    expect("Recv", 1, 0, 8000, 0), from(0, 8000);
    MPI_Recv(buffer, LONGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Recv", 1, 0, 0, 0), from(0, 0);
    MPI_Probe(0, 1, MPI_COMM_WORLD, &status);
    expect("Probe", 1, 0, 0, 0);
    MPI_Recv(buffer, LONGEST, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Recv", 1, 0, 100, 0), from(0, 100);
    MPI_Irecv(buffer, 1000, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    expect("Irecv", 1, 0, 0, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Wait", 1, 0, 15, 0), from(0, 15);
    MPI_Irecv(buffer, LONGEST, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    expect("Irecv", 1, 0, 0, 0);
    MPI_Wait(&request, &status);
    expect("Wait", 1, 0, LONGEST, 0), from(0, LONGEST);
    MPI_Message message;
    MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status);
    expect("Mprobe", 1, 0, 0, 0);
    MPI_Mrecv(buffer, 100, MPI_INT, &message, MPI_STATUS_IGNORE);
    expect("Mrecv", 1, 0, 12, 0), from(0, 12);
    MPI_Irecv(buffer, 10, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    expect("Irecv", 1, 0, 0, 0);
    MPI_Wait(&request, &status);
    expect("Wait", 1, 0, 0, 0);
    MPI_Sendrecv(numbers, 20, MPI_DOUBLE, 0, 3, buffer, 64, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &status);
    expect("Sendrecv", 1, 160, 64, 1), to(0, 160), from(0, 64);
}

static void point_to_point(void)
{
    char buffer[LONGEST], attached[1 << 16];
    double numbers[1000] = {0};
    void *detached;
    int size;
    MPI_Buffer_attach(attached, sizeof attached);
    if (rank == 0)
        send_all(buffer, numbers);
    else if (rank == 1)
        receive_all(buffer, numbers);
    MPI_Sendrecv_replace(buffer, 33, MPI_CHAR, (rank + 1) % RANKS, 4, (rank + 3) % RANKS, 4, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    expect("Sendrecv_replace", 1, 33, 33, 1), to((rank + 1) % RANKS, 33), from((rank + 3) % RANKS, 33);
    MPI_Buffer_detach(&detached, &size);
    expect("Buffer_detach", 1, 0, 0, 0);
}

/* Exchanges messages in a ring: every rank posts two receives and two sends, completed with each kind of
 * call. */
static void completions(void)
{
    char in[2][500], out[500];
    int right = (rank + 1) % RANKS, left = (rank + 3) % RANKS, index, done, indices[4];
    MPI_Request request[4];
    MPI_Status status[4];
    for (int way = 0; way < 4; way++) {
        MPI_Irecv(in[0], 500, MPI_CHAR, left, 10, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(in[1], 500, MPI_CHAR, left, 11, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(out, 300, MPI_CHAR, right, 10, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(out, 200, MPI_CHAR, right, 11, MPI_COMM_WORLD, &request[3]);
        expect("Irecv", 2, 0, 0, 0), expect("Isend", 2, 500, 0, 2);
        to(right, 300), to(right, 200), from(left, 300), from(left, 200);
        if (way == 0) {
            MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
            expect("Waitall", 1, 0, 500, 0);
        } else if (way == 1) {
            MPI_Waitall(4, request, status);
            expect("Waitall", 1, 0, 500, 0);
        } else if (way == 2) {
            for (int i = 0; i < 4; i++)
                MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
            expect("Waitany", 4, 0, 500, 0);
        } else {
            for (int open = 4; open > 0; open -= done) {
                MPI_Waitsome(4, request, &done, indices, MPI_STATUSES_IGNORE);
                expect("Waitsome", 1, 0, 0, 0);
            }
            expect("Waitsome", 0, 0, 500, 0);
        }
    }
    MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
    expect("Waitany", 1, 0, 0, 0);
    for (int way = 0; way < 3; way++) {
        int flag = 0;
        MPI_Irecv(in[0], 500, MPI_CHAR, left, 12, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, 77, MPI_CHAR, right, 12, MPI_COMM_WORLD, &request[1]);
        expect("Irecv", 1, 0, 0, 0), expect("Isend", 1, 77, 0, 1), to(right, 77), from(left, 77);
        for (int open = 2; open > 0;) {
            if (way == 0) {
                MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE);
                open -= flag ? 2 : 0;
                expect("Testall", 1, 0, flag ? 77 : 0, 0);
            } else if (way == 1) {
                MPI_Testany(2, request, &index, &flag, MPI_STATUS_IGNORE);
                open -= flag ? 1 : 0;
                expect("Testany", 1, 0, flag && index == 0 ? 77 : 0, 0);
            } else {
                MPI_Test(&request[2 - open], &flag, MPI_STATUS_IGNORE);
                expect("Test", 1, 0, flag && open == 2 ? 77 : 0, 0);
                open -= flag ? 1 : 0;
            }
        }
    }
}

static void persistent(void)
{
    char in[64], out[64];
    int right = (rank + 1) % RANKS, left = (rank + 3) % RANKS;
    MPI_Request request[2];
    MPI_Send_init(out, 40, MPI_CHAR, right, 20, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(in, 64, MPI_CHAR, left, 20, MPI_COMM_WORLD, &request[1]);
    expect("Send_init", 1, 0, 0, 0), expect("Recv_init", 1, 0, 0, 0);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect("Waitall", 1, 0, 0, 0);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        expect("Startall", 1, 40, 0, 1), expect("Waitall", 1, 0, 40, 0), to(right, 40), from(left, 40);
    }
    for (int turn = 0; turn < 2; turn++) {
        MPI_Start(&request[1]);
        MPI_Start(&request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        expect("Start", 2, 40, 0, 1), expect("Wait", 2, 0, 40, 0), to(right, 40), from(left, 40);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    expect("Request_free", 2, 0, 0, 0);
}

static void rooted(void)
{
    int one[16] = {0}, all[64] = {0}, counts[RANKS] = {1, 2, 3, 4}, places[RANKS] = {0, 1, 3, 6};
    int is_root = rank == 2;
    MPI_Bcast(all, 10, MPI_INT, 2, MPI_COMM_WORLD);
    expect("Bcast", 1, is_root ? 40 : 0, is_root ? 0 : 40, is_root);
    MPI_Reduce(one, all, 4, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD);
    expect("Reduce", 1, 16, is_root ? 16 : 0, 1);
    MPI_Reduce(is_root ? MPI_IN_PLACE : all, all, 5, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD);
    expect("Reduce", 1, 20, is_root ? 20 : 0, 1);
    MPI_Gather(one, 2, MPI_INT, all, 2, MPI_INT, 2, MPI_COMM_WORLD);
    expect("Gather", 1, 8, is_root ? 32 : 0, 1);
    MPI_Gather(is_root ? MPI_IN_PLACE : one, 2, MPI_INT, all, 2, MPI_INT, 2, MPI_COMM_WORLD);
    expect("Gather", 1, 8, is_root ? 32 : 0, 1);
    MPI_Gatherv(one, rank + 1, MPI_INT, all, counts, places, MPI_INT, 2, MPI_COMM_WORLD);
    expect("Gatherv", 1, 4 * (rank + 1), is_root ? 40 : 0, 1);
    MPI_Scatter(all, 3, MPI_INT, one, 3, MPI_INT, 2, MPI_COMM_WORLD);
    expect("Scatter", 1, is_root ? 48 : 0, 12, is_root);
    MPI_Scatter(all, 3, MPI_INT, is_root ? MPI_IN_PLACE : one, 3, MPI_INT, 2, MPI_COMM_WORLD);
    expect("Scatter", 1, is_root ? 48 : 0, 12, is_root);
    MPI_Scatterv(all, counts, places, MPI_INT, one, rank + 1, MPI_INT, 2, MPI_COMM_WORLD);
    expect("Scatterv", 1, is_root ? 40 : 0, 4 * (rank + 1), is_root);
}

static void unrooted(void)
{
    int in[64] = {0}, out[64] = {0}, counts[RANKS] = {1, 2, 3, 4}, places[RANKS] = {0, 1, 3, 6};
    int same[RANKS] = {rank + 1, rank + 1, rank + 1, rank + 1}, zero[RANKS] = {0};
    int bytes[RANKS] = {0, 4, 12, 24};
    MPI_Datatype types[RANKS] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Barrier(MPI_COMM_WORLD);
    expect("Barrier", 1, 0, 0, 0);
    MPI_Allreduce(out, in, 6, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 6, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Allreduce", 2, 48, 48, 2);
    MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Scan", 1, 4, 4, 1);
    MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Exscan", 1, 4, rank ? 4 : 0, 1);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, MPI_COMM_WORLD);
    expect("Allgather", 2, 16, 64, 2);
    MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    expect("Allgatherv", 2, 8 * (rank + 1), 80, 2);
    MPI_Alltoall(out, 3, MPI_INT, in, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 3, MPI_INT, MPI_COMM_WORLD);
    expect("Alltoall", 2, 96, 96, 2);
    MPI_Alltoallv(out, counts, places, MPI_INT, in, same, (int[]){0, 8, 16, 24}, MPI_INT, MPI_COMM_WORLD);
    expect("Alltoallv", 1, 40, 16 * (rank + 1), 1);
    MPI_Alltoallv(out, zero, places, MPI_INT, in, zero, places, MPI_INT, MPI_COMM_WORLD);
    expect("Alltoallv", 1, 0, 0, 0);
    MPI_Alltoallw(out, counts, bytes, types, in, same, (int[]){0, 32, 64, 96}, types, MPI_COMM_WORLD);
    expect("Alltoallw", 1, 40, 16 * (rank + 1), 1);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Reduce_scatter", 1, 40, 4 * (rank + 1), 1);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Reduce_scatter_block", 1, 32, 8, 1);
}

static void immediate(void)
{
    int in[64] = {0}, out[64] = {0};
    MPI_Request request[3];
    MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
    MPI_Iallreduce(out, in, 6, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[1]);
    MPI_Ibcast(in + 32, 5, MPI_INT, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    expect("Ibarrier", 1, 0, 0, 0), expect("Iallreduce", 1, 24, 24, 1);
    expect("Ibcast", 1, rank == 0 ? 20 : 0, rank == 0 ? 0 : 20, rank == 0), expect("Waitall", 1, 0, 0, 0);
    MPI_Ialltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    expect("Ialltoall", 1, 32, 32, 1), expect("Wait", 1, 0, 0, 0);
}

/* Connects even and odd ranks by an intercommunicator. */
static void between_halves(MPI_Comm half)
{
    MPI_Comm inter;
    char buffer[64];
    int in[16], out[8];
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
    expect("Intercomm_create", 1, 0, 0, 0);
    int across = rank % 2 ? rank - 1 : rank + 1;
    MPI_Sendrecv(buffer, 5, MPI_CHAR, rank / 2, 0, buffer + 32, 5, MPI_CHAR, rank / 2, 0, inter,
                 MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 5, 5, 1), to(across, 5), from(across, 5);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, inter);
    expect("Allgather", 1, 8, 16, 1);
    int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(in, 3, MPI_INT, root, inter);
    expect("Bcast", 1, rank == 0 ? 12 : 0, rank % 2 ? 12 : 0, rank == 0);
    MPI_Gather(out, 2, rank % 2 ? MPI_INT : MPI_DATATYPE_NULL, in, 2, rank % 2 ? MPI_DATATYPE_NULL : MPI_INT,
               root, inter);
    expect("Gather", 1, rank % 2 ? 8 : 0, rank == 0 ? 16 : 0, rank % 2);
    MPI_Comm_free(&inter);
    expect("Comm_free", 1, 0, 0, 0);
}

/* Sends in smaller communicators and with derived types. The table of peers must have the numbers of ranks in
 * MPI_COMM_WORLD, and the bytes must follow from the sizes of the types. */
static void communicators(void)
{
    MPI_Comm half, reversed, copy, cart;
    MPI_Datatype vector, empty;
    char buffer[64];
    int in[16], out[8], me, dims[1] = {RANKS}, periods[1] = {1};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    expect("Comm_split", 2, 0, 0, 0);
    MPI_Comm_rank(half, &me);
    MPI_Type_vector(5, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    double numbers[10] = {0};
    int other = rank < 2 ? rank + 2 : rank - 2, mirror = RANKS - 1 - rank;
    if (me == 0) {
        MPI_Send(numbers, 1, vector, 1, 0, half);
        expect("Send", 1, 40, 0, 1), to(other, 40);
        MPI_Send(numbers, 1, empty, 1, 0, half);
        expect("Send", 1, 0, 0, 1), to(other, 0);
    } else {
        MPI_Recv(numbers, 5, MPI_DOUBLE, MPI_ANY_SOURCE, 0, half, MPI_STATUS_IGNORE);
        expect("Recv", 1, 0, 40, 0), from(other, 40);
        MPI_Recv(numbers, 1, MPI_INT, 0, 0, half, MPI_STATUS_IGNORE);
        expect("Recv", 1, 0, 0, 0), from(other, 0);
    }
    MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, half);
    expect("Allgather", 1, 4, 8, 1);
    MPI_Comm_rank(reversed, &me);
    MPI_Sendrecv(buffer, 9, MPI_CHAR, rank, 0, buffer + 32, 9, MPI_CHAR, rank, 0, reversed,
                 MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 9, 9, 1), to(mirror, 9), from(mirror, 9);
    MPI_Comm_dup(reversed, &copy);
    MPI_Bcast(in, 1, MPI_INT, 0, copy);
    expect("Comm_dup", 1, 0, 0, 0), expect("Bcast", 1, me == 0 ? 4 : 0, me == 0 ? 0 : 4, me == 0);
    MPI_Comm_free(&copy);
    expect("Comm_free", 1, 0, 0, 0);
    between_halves(half);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    expect("Cart_create", 1, 0, 0, 0);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, cart);
    expect("Neighbor_allgather", 1, 4, 8, 1);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart);
    expect("Neighbor_alltoall", 1, 8, 8, 1);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&half);
    MPI_Comm_free(&reversed);
    expect("Comm_free", 3, 0, 0, 0);
    MPI_Type_free(&vector);
    MPI_Type_free(&empty);
}

static void one_sided(void)
{
    double window[16] = {0}, local[16] = {0}, result[16];
    int right = (rank + 1) % RANKS;
    MPI_Win win;
    MPI_Win_create(window, sizeof window, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(local, 4, MPI_DOUBLE, right, 0, 4, MPI_DOUBLE, win);
    MPI_Accumulate(local, 2, MPI_DOUBLE, right, 4, 2, MPI_DOUBLE, MPI_SUM, win);
    MPI_Put(local, 4, MPI_DOUBLE, MPI_PROC_NULL, 0, 4, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    expect("Win_create", 1, 0, 0, 0), expect("Win_fence", 2, 0, 0, 0), expect("Put", 2, 32, 0, 1),
        to(right, 32);
    expect("Accumulate", 1, 16, 0, 1), to(right, 16);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Get(result, 3, MPI_DOUBLE, right, 0, 3, MPI_DOUBLE, win);
    MPI_Fetch_and_op(local, result + 8, MPI_DOUBLE, right, 8, MPI_SUM, win);
    MPI_Win_unlock(right, win);
    expect("Win_lock", 1, 0, 0, 0), expect("Get", 1, 0, 24, 1), from(right, 24),
        expect("Win_unlock", 1, 0, 0, 0);
    expect("Fetch_and_op", 1, 8, 8, 2), to(right, 8), from(right, 8);
    MPI_Barrier(MPI_COMM_WORLD);
    expect("Barrier", 1, 0, 0, 0);
    MPI_Win_free(&win);
    expect("Win_free", 1, 0, 0, 0);
}

/* Constants of a test in which all threads of a rank exchange messages at once, each with the thread of the
 * same number on the partner. */
enum { THREADS = 4, TURNS = 500 };

static void *exchange(void *number)
{
    int tag = 100 + (int)(long)number, partner = rank ^ 1;
    char in[200], out[200];
    for (int i = 0; i < TURNS; i++) {
        MPI_Request request;
        MPI_Irecv(in, 200, MPI_CHAR, partner, tag, MPI_COMM_WORLD, &request);
        MPI_Send(out, 100 + tag % 10, MPI_CHAR, partner, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    for (long i = 0; i < THREADS; i++)
        MUST(pthread_create(&thread[i], NULL, exchange, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        MUST(pthread_join(thread[i], NULL) == 0);
        expect("Irecv", TURNS, 0, 0, 0), expect("Send", TURNS, TURNS * (100 + i), 0, TURNS);
        expect("Wait", TURNS, 0, TURNS * (100 + i), 0);
        for (int turn = 0; turn < TURNS; turn++)
            to(rank ^ 1, 100 + i), from(rank ^ 1, 100 + i);
    }
}

int main(int argc, char **argv)
{
    int level, ranks, wants_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    MPI_Init_thread(&argc, &argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    expect("Init_thread", 1, 0, 0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MUST(ranks == RANKS);
    if (wants_threads) {
        MUST(level == MPI_THREAD_MULTIPLE);
        threads();
    } else {
        point_to_point();
        completions();
        persistent();
        rooted();
        unrooted();
        immediate();
        communicators();
        one_sided();
    }
    expect("Finalize", 1, 0, 0, 0);
    print_expected();
    if (argc > 1 && strcmp(argv[1], "killed") == 0)
        kill(getpid(), 9);
    MPI_Finalize();
    return 0;
}
