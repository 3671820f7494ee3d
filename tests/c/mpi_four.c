/* Makes calls that are new in MPI 4 and 4.1, and states the expected counts, computed by hand from the
 * meaning of the calls: partitioned messages, collective operations that are set up once and started often,
 * counts beyond int, tests of several requests, buffers of a communicator or session. Calls that the MPI
 * library lacks are left out; if it lacks all of them, the exit code is 77. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_expect.h"

#if MPI_VERSION >= 4
#define HAS_LARGE_COUNTS 1
#endif
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PARTITIONED 1
#endif

#ifdef HAS_PARTITIONED

static void start_and_wait(MPI_Request *request)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    expect("Wait", 1, 0, 0, 0);
}

/* Sends 8 partitions of 5 ints, which the neighbour receives as 4 partitions of 10. A message counts when it
 * is started; received bytes count when the message is complete. */
static void partitioned(void)
{
    static int out[40], in[40];
    int right = (rank + 1) % RANKS, left = (rank + RANKS - 1) % RANKS, there = 0;
    MPI_Request request[2], nobody;
    MPI_Psend_init(out, 8, 5, MPI_INT, right, 30, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(in, 4, 10, MPI_INT, left, 30, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    expect("Psend_init", 1, 0, 0, 0), expect("Precv_init", 1, 0, 0, 0);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Startall(2, request);
        MPI_Pready(0, request[0]);
        MPI_Pready_range(1, 5, request[0]);
        MPI_Pready_list(2, (int[]){6, 7}, request[0]);
        MPI_Parrived(request[1], 0, &there);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        expect("Startall", 1, 160, 0, 1), expect("Waitall", 1, 0, 160, 0);
        to(right, 160), from(left, 160);
        expect("Pready", 1, 0, 0, 0), expect("Pready_range", 1, 0, 0, 0), expect("Pready_list", 1, 0, 0, 0);
        expect("Parrived", 1, 0, 0, 0);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    expect("Request_free", 2, 0, 0, 0);
    MPI_Send_init(out, 4, MPI_INT, MPI_PROC_NULL, 31, MPI_COMM_WORLD, &nobody);
    start_and_wait(&nobody);
    MPI_Request_free(&nobody);
    expect("Send_init", 1, 0, 0, 0), expect("Start", 1, 0, 0, 0), expect("Request_free", 1, 0, 0, 0);
}

/* Starts collective calls that were set up before. Each counts when it is started, not when it is set up. */
static void started_collectives(void)
{
    static int out[64], in[64];
    static const int counts[RANKS] = {1, 2, 3, 4}, places[RANKS] = {0, 1, 3, 6};
    MPI_Request request[6];
    MPI_Info none = MPI_INFO_NULL;
    MPI_Allreduce_init(out, in, 6, MPI_INT, MPI_SUM, MPI_COMM_WORLD, none, &request[0]);
    MPI_Bcast_init(in + 8, 5, MPI_INT, 1, MPI_COMM_WORLD, none, &request[1]);
    MPI_Allgatherv_init(out, rank + 1, MPI_INT, in + 16, counts, places, MPI_INT, MPI_COMM_WORLD, none,
                        &request[2]);
    MPI_Alltoall_init(out, 2, MPI_INT, in + 32, 2, MPI_INT, MPI_COMM_WORLD, none, &request[3]);
    MPI_Barrier_init(MPI_COMM_WORLD, none, &request[4]);
    MPI_Reduce_scatter_block_init(out, in + 48, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, none, &request[5]);
    expect("Allreduce_init", 1, 0, 0, 0), expect("Bcast_init", 1, 0, 0, 0);
    expect("Allgatherv_init", 1, 0, 0, 0), expect("Alltoall_init", 1, 0, 0, 0);
    expect("Barrier_init", 1, 0, 0, 0), expect("Reduce_scatter_block_init", 1, 0, 0, 0);
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 6; i++)
            start_and_wait(&request[i]);
    int root = rank == 1;
    expect("Start", 18, 3 * (24 + (root ? 20 : 0) + 4 * (rank + 1) + 32 + 32),
           3 * (24 + (root ? 0 : 20) + 40 + 32 + 8), 3 * (4 + root));
    for (int i = 0; i < 6; i++)
        MPI_Request_free(&request[i]);
    expect("Request_free", 6, 0, 0, 0);
}

static void exchange_at_once(void)
{
    char in[64], out[64] = {0};
    int right = (rank + 1) % RANKS, left = (rank + RANKS - 1) % RANKS;
    MPI_Request request;
    MPI_Isendrecv(out, 21, MPI_CHAR, right, 32, in, 21, MPI_CHAR, left, 32, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Isendrecv", 1, 21, 0, 1), expect("Wait", 1, 0, 21, 0), to(right, 21), from(left, 21);
    MPI_Isendrecv_replace(out, 17, MPI_CHAR, right, 32, left, 32, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Isendrecv_replace", 1, 17, 0, 1), expect("Wait", 1, 0, 17, 0), to(right, 17), from(left, 17);
#ifdef OPEN_MPI /* Libraries other than Open MPI do not report the size and the sender of this receive. */
    MPI_Isendrecv(out, 5 + rank, MPI_CHAR, right, 33, in, 64, MPI_CHAR, MPI_ANY_SOURCE, 33, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Isendrecv", 1, 5 + rank, 0, 1), expect("Wait", 1, 0, 5 + left, 0), to(right, 5 + rank);
    from(left, 5 + left);
#endif
    MPI_Isendrecv(out, 9, MPI_CHAR, right, 34, in, 64, MPI_CHAR, MPI_PROC_NULL, 34, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(in, 64, MPI_CHAR, left, 34, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Isendrecv", 1, 9, 0, 1), expect("Wait", 1, 0, 0, 0), to(right, 9);
    expect("Recv", 1, 0, 9, 0), from(left, 9);
}

#endif

#ifdef HAS_LARGE_COUNTS

/* Makes calls with large counts; each counts as the function without _c. */
static void large_counts(void)
{
    static int out[64], in[64];
    static const MPI_Count counts[RANKS] = {1, 2, 3, 4};
    static const MPI_Aint places[RANKS] = {0, 1, 3, 6};
    int partner = rank ^ 1;
    MPI_Request request[2];
    MPI_Isend_c(out, 10, MPI_INT, partner, 33, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv_c(in, 64, MPI_INT, partner, 33, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect("Isend", 1, 40, 0, 1), expect("Irecv", 1, 0, 0, 0), expect("Waitall", 1, 0, 40, 0);
    MPI_Sendrecv_c(out, 3, MPI_INT, partner, 34, in, 64, MPI_INT, partner, 34, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    expect("Sendrecv", 1, 12, 12, 1), to(partner, 40), from(partner, 40), to(partner, 12), from(partner, 12);
    MPI_Allreduce_c(MPI_IN_PLACE, in, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("Allreduce", 1, 28, 28, 1);
    MPI_Allgatherv_c(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    expect("Allgatherv", 1, 4 * (rank + 1), 40, 1);
    MPI_Ialltoallv_c(out, counts, places, MPI_INT, in, (MPI_Count[]){rank + 1, rank + 1, rank + 1, rank + 1},
                     (MPI_Aint[]){0, 8, 16, 24}, MPI_INT, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    expect("Ialltoallv", 1, 40, 16 * (rank + 1), 1), expect("Wait", 1, 0, 0, 0);
    MPI_Bcast_init_c(in, 9, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    start_and_wait(&request[0]);
    MPI_Request_free(&request[0]);
    expect("Bcast_init", 1, 0, 0, 0), expect("Start", 1, rank ? 0 : 36, rank ? 36 : 0, rank == 0);
    expect("Request_free", 1, 0, 0, 0);
}

/* Moves more data than an int can count without touching it: 3 GiB to MPI_PROC_NULL, and a broadcast on one
 * rank. */
static void more_than_an_int(void)
{
    MPI_Count many = (MPI_Count)3 << 30;
    MPI_Send_c(&rank, many, MPI_BYTE, MPI_PROC_NULL, 35, MPI_COMM_WORLD);
    expect("Send", 1, 0, 0, 0);
    MPI_Bcast_c(&rank, many, MPI_BYTE, 0, MPI_COMM_SELF);
    expect("Bcast", 1, (long long)many, 0, 1);
}

#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

/* Tests requests without completing them: messages that have arrived are counted once, by the wait. */
static void looked_at(void)
{
    char in[64], out[64] = {0};
    int right = (rank + 1) % RANKS, left = (rank + RANKS - 1) % RANKS, there = 0, done = 0, indices[2];
    MPI_Request request[2];
    MPI_Status status[2];
    MPI_Irecv(in, 64, MPI_CHAR, left, 36, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, 23, MPI_CHAR, right, 36, MPI_COMM_WORLD, &request[1]);
    expect("Irecv", 1, 0, 0, 0), expect("Isend", 1, 23, 0, 1), to(right, 23);
    while (!there) {
        MPI_Request_get_status_all(2, request, &there, MPI_STATUSES_IGNORE);
        expect("Request_get_status_all", 1, 0, 0, 0);
    }
    MPI_Request_get_status_any(2, request, indices, &there, status);
    MPI_Request_get_status_some(2, request, &done, indices, status);
    expect("Request_get_status_any", 1, 0, 0, 0), expect("Request_get_status_some", 1, 0, 0, 0);
    MUST(there && done == 2);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect("Waitall", 1, 0, 23, 0), from(left, 23);
}

/* Uses send buffers of the process, of a communicator and of a session; a call that flushes or detaches a
 * buffer waits. */
static void buffers(void)
{
    char attached[1 << 12];
    void *detached;
    MPI_Count size;
    int bytes;
    MPI_Request request;
    MPI_Session session;
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Buffer_flush();
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach_c(&detached, &size);
    expect("Buffer_flush", 1, 0, 0, 0), expect("Buffer_iflush", 1, 0, 0, 0), expect("Wait", 1, 0, 0, 0);
    expect("Buffer_detach", 1, 0, 0, 0);
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, attached, sizeof attached);
    MPI_Bsend(attached, 0, MPI_CHAR, rank, 37, MPI_COMM_WORLD);
    MPI_Recv(attached, 0, MPI_CHAR, rank, 37, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("Bsend", 1, 0, 0, 1), to(rank, 0), expect("Recv", 1, 0, 0, 0), from(rank, 0);
    MPI_Comm_flush_buffer(MPI_COMM_WORLD);
    MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(MPI_COMM_WORLD, &detached, &bytes);
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, attached, sizeof attached);
    MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &detached, &size);
    expect("Comm_flush_buffer", 1, 0, 0, 0), expect("Comm_iflush_buffer", 1, 0, 0, 0);
    expect("Wait", 1, 0, 0, 0), expect("Comm_detach_buffer", 2, 0, 0, 0);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_attach_buffer(session, attached, sizeof attached);
    MPI_Session_flush_buffer(session);
    MPI_Session_iflush_buffer(session, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer(session, &detached, &bytes);
    MPI_Session_finalize(&session);
    expect("Session_flush_buffer", 1, 0, 0, 0), expect("Session_iflush_buffer", 1, 0, 0, 0);
    expect("Wait", 1, 0, 0, 0), expect("Session_detach_buffer", 1, 0, 0, 0);
}

#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
#ifdef HAS_PARTITIONED
    partitioned();
    started_collectives();
    exchange_at_once();
#endif
#ifdef HAS_LARGE_COUNTS
    large_counts();
    more_than_an_int();
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    looked_at();
    buffers();
#endif
    expect("Finalize", 1, 0, 0, 0);
    print_expected();
    MPI_Finalize();
#ifndef HAS_PARTITIONED
    return 77;
#endif
    return 0;
}
