/* Messages between two or more ranks. */
#include "why_kinds.h"

#include <stdlib.h>

static void send(int bytes, int to) { MPI_Send(kind_sent, bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD); }

static void receive(int bytes, int from)
{
    MPI_Recv(kind_received, bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sendrecv_shift(void)
{
    for (int step = 0; step < 3; step++) {
        work(50);
        if (rank_is(3) && step == 0)
            planted_delay(0);
        MPI_Sendrecv(kind_sent, LARGE, MPI_CHAR, (kind_rank + 1) % RANKS, 1, kind_received, LARGE, MPI_CHAR,
                     (kind_rank + RANKS - 1) % RANKS, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    work(rank_is(2) ? 500 : 0);
}

static void replaced_between_two(void)
{
    if (rank_is(1))
        planted_delay(0);
    if (kind_rank < 2)
        MPI_Sendrecv_replace(kind_sent, 1000, MPI_CHAR, 1 - kind_rank, 1, 1 - kind_rank, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    work(rank_is(0) ? 600 : 0);
}

static void matched_probe(void)
{
    MPI_Message message;
    MPI_Status status;
    if (rank_is(0)) {
        planted_delay(0);
        send(1000, 3);
    } else if (rank_is(3)) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(kind_received, 1000, MPI_CHAR, &message, &status);
        work(500);
    }
}

static void probed_asleep(void)
{
    int there = 0;
    if (rank_is(0)) {
        planted_delay(0);
        send(1000, 3);
    } else if (rank_is(3)) {
        while (!there) {
            work(2);
            MPI_Iprobe(0, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        }
        receive(1000, 0);
        work(500);
    }
}

static void tested_some_asleep(void)
{
    MPI_Request requests[RANKS - 1];
    int indices[RANKS - 1], left = RANKS - 1, count;
    if (rank_is(2))
        planted_delay(0);
    for (int i = 1; i < RANKS && rank_is(0); i++)
        MPI_Irecv(kind_received + i * 100, 100, MPI_CHAR, i, 1, MPI_COMM_WORLD, &requests[i - 1]);
    while (rank_is(0) && left > 0) {
        work(3);
        MPI_Testsome(RANKS - 1, requests, &count, indices, MPI_STATUSES_IGNORE);
        left -= count;
    }
    if (!rank_is(0))
        send(100, 0);
    work(rank_is(0) ? 500 : 0);
}

static void waited_any(void)
{
    MPI_Request requests[RANKS - 1];
    int index;
    if (rank_is(3))
        planted_delay(0);
    for (int i = 1; i < RANKS && rank_is(0); i++)
        MPI_Irecv(kind_received + i * 100, 100, MPI_CHAR, i, 1, MPI_COMM_WORLD, &requests[i - 1]);
    for (int i = 1; i < RANKS && rank_is(0); i++) {
        MPI_Waitany(RANKS - 1, requests, &index, MPI_STATUS_IGNORE);
        work(100);
    }
    if (!rank_is(0))
        send(100, 0);
}

/* Both are posted in time; the receiver, then the sender, is outside of MPI when the other completes. */
static void both_posted(int absent)
{
    MPI_Request request;
    if (kind_rank > 1)
        return;
    if (rank_is(0))
        MPI_Isend(kind_sent, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(kind_received, LARGE, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    if (rank_is(absent))
        planted_delay(0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    work(rank_is(absent) ? 0 : 800);
}

static void receiver_absent(void) { both_posted(1); }

static void sender_absent(void) { both_posted(0); }

/* The receive is posted before a barrier, so that the small message of a ready send finds it. */
static void ready_send(void)
{
    MPI_Request request;
    if (rank_is(1))
        MPI_Irecv(kind_received, 100, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_is(0)) {
        planted_delay(0);
        MPI_Rsend(kind_sent, 100, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else if (rank_is(1)) {
        work(300);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        work(500);
    }
}

static void buffered_to_late(void)
{
    static char room[LARGE + MPI_BSEND_OVERHEAD + 100];
    if (rank_is(0)) {
        void *there;
        int size;
        MPI_Buffer_attach(room, sizeof room);
        MPI_Bsend(kind_sent, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        work(2200);
        MPI_Buffer_detach(&there, &size);
    } else if (rank_is(1)) {
        planted_delay(0);
        receive(LARGE, 0);
    }
}

/* A chain of three: 0 delays 1, which then sends a large message to 2, which is busy until later than the
 * delay. */
static void chain_with_slack(void)
{
    if (rank_is(0)) {
        planted_delay(0);
        send(SMALL, 1);
    } else if (rank_is(1)) {
        receive(SMALL, 0);
        work(100);
        send(LARGE, 2);
    } else if (rank_is(2)) {
        work(600);
        receive(LARGE, 1);
        work(200);
    }
}

/* Many small messages to a late receiver: they fill the buffers of the library, or do not. */
static void flood_of_late(void)
{
    for (int i = 0; i < 2000 && rank_is(0); i++)
        send(1000, 1);
    if (rank_is(0))
        work(1800);
    if (rank_is(1))
        planted_delay(0);
    for (int i = 0; i < 2000 && rank_is(1); i++)
        receive(1000, 0);
}

static void cancelled_receive(void)
{
    MPI_Request request;
    if (rank_is(0)) {
        MPI_Irecv(kind_received, 100, MPI_CHAR, 1, 99, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank_is(1))
        planted_delay(0);
    MPI_Barrier(MPI_COMM_WORLD);
    work(200);
}

static void any_source_two_rounds(void)
{
    for (int round = 0; round < 2; round++) {
        if (rank_is(1) && round == 0)
            planted_delay(0);
        for (int i = 1; i < RANKS && rank_is(0); i++)
            receive(100, MPI_ANY_SOURCE);
        if (!rank_is(0))
            send(100, 0);
    }
    work(rank_is(0) ? 500 : 0);
}

const struct why_kind message_kinds[] = {{"sendrecv_shift", sendrecv_shift},
                                         {"replaced_between_two", replaced_between_two},
                                         {"matched_probe", matched_probe},
                                         {"probed_asleep", probed_asleep},
                                         {"tested_some_asleep", tested_some_asleep},
                                         {"waited_any", waited_any},
                                         {"receiver_absent", receiver_absent},
                                         {"sender_absent", sender_absent},
                                         {"ready_send", ready_send},
                                         {"buffered_to_late", buffered_to_late},
                                         {"chain_with_slack", chain_with_slack},
                                         {"flood_of_late", flood_of_late},
                                         {"cancelled_receive", cancelled_receive},
                                         {"any_source_two_rounds", any_source_two_rounds},
                                         {NULL, NULL}};
