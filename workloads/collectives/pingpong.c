#include <math.h>
#include <stdlib.h>

#include "run.h"

enum { TAG = 3, GARBAGE = 0xA5 };

const Manner MANNERS[MANNER_COUNT] = {
    {"Ping-pong, receive posted", true},
    {"Ping-pong, receive late", false},
};

typedef struct Pair {
    MPI_Comm comm;
    int rank, peer, bytes;
    unsigned char *send, *receive;
} Pair;

static void send(const Pair *pair)
{
    MPI_Send(pair->send, pair->bytes, MPI_BYTE, pair->peer, TAG, pair->comm);
}

static MPI_Request post(const Pair *pair)
{
    MPI_Request request;
    MPI_Irecv(pair->receive, pair->bytes, MPI_BYTE, pair->peer, TAG, pair->comm, &request);
    return request;
}

/* Receives a message that has already arrived. */
static void receive_late(const Pair *pair)
{
    int arrived = 0;
    while (!arrived)
        MPI_Iprobe(pair->peer, TAG, pair->comm, &arrived, MPI_STATUS_IGNORE);
    MPI_Recv(pair->receive, pair->bytes, MPI_BYTE, pair->peer, TAG, pair->comm, MPI_STATUS_IGNORE);
}

/* Acts as rank 0 of a pair. Stores the time of each message in `seconds`, except those of the first messages,
 * which are not timed. */
static void lead(const Pair *pair, bool posted, int warm_up, int iterations, double *seconds)
{
    for (int i = -warm_up; i < iterations; i++) {
        double begin = MPI_Wtime();
        if (posted) {
            MPI_Request request = post(pair);
            send(pair);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            send(pair);
            receive_late(pair);
        }
        double end = MPI_Wtime();
        if (i >= 0)
            seconds[i] = (end - begin) / 2.0;
    }
}

/* Acts as rank 1: posts the receive of the next message before it answers this one. */
static void follow_posted(const Pair *pair, int messages)
{
    MPI_Request request = post(pair);
    MPI_Barrier(pair->comm);
    for (int i = 0; i < messages; i++) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i + 1 < messages)
            request = post(pair);
        send(pair);
    }
}

static void follow_late(const Pair *pair, int messages)
{
    MPI_Barrier(pair->comm);
    for (int i = 0; i < messages; i++) {
        receive_late(pair);
        send(pair);
    }
}

static Pair pair_make(long long bytes, MPI_Comm comm)
{
    Pair pair = {.comm = comm, .bytes = (int)bytes};
    MPI_Comm_rank(comm, &pair.rank);
    pair.peer = 1 - pair.rank;
    pair.send = allocate(1, (size_t)bytes);
    pair.receive = allocate(1, (size_t)bytes);
    memset(pair.receive, GARBAGE, (size_t)bytes);
    for (int k = 0; k < pair.bytes; k++)
        pair.send[k] = pattern(pair.rank, pair.peer, k);
    return pair;
}

static long long pair_errors(const Pair *pair)
{
    long long mine = 0, errors;
    for (int k = 0; k < pair->bytes; k++)
        mine += pair->receive[k] != pattern(pair->peer, pair->rank, k);
    MPI_Allreduce(&mine, &errors, 1, MPI_LONG_LONG, MPI_SUM, pair->comm);
    return errors;
}

Latency pingpong(const Manner *manner, long long bytes, int iterations, MPI_Comm comm)
{
    Pair pair = pair_make(bytes, comm);
    Latency latency = {0};
    int warm_up = iterations / 10;
    if (pair.rank == 0) {
        double *seconds = allocate(iterations, sizeof(double));
        MPI_Barrier(comm);
        lead(&pair, manner->posted, warm_up, iterations, seconds);
        latency = latency_together(seconds, iterations, MPI_COMM_SELF);
        latency.minimum = latency.maximum = seconds[0];
        for (int i = 1; i < iterations; i++) {
            latency.minimum = fmin(latency.minimum, seconds[i]);
            latency.maximum = fmax(latency.maximum, seconds[i]);
        }
        free(seconds);
    } else if (manner->posted) {
        follow_posted(&pair, warm_up + iterations);
    } else {
        follow_late(&pair, warm_up + iterations);
    }
    latency.operation = manner->name;
    latency.bytes = bytes;
    latency.errors = pair_errors(&pair);
    free(pair.send);
    free(pair.receive);
    return latency;
}
