#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "recover.h"

enum { ALL_WELL = -1 };

/* A collective operation in progress, with the data received so far. */
struct round {
    const int *sockets, *ranks;
    int count, size;
    struct wire wire;
    size_t bytes; /* Size of one rank's part. */
    char *result, *part;
};

static void fold_int64(int64_t *into, int64_t value, enum iolens_op op)
{
    if (op == IOLENS_SUM)
        *into += value;
    else if ((op == IOLENS_MIN) == (value < *into))
        *into = value;
}

static void fold_double(double *into, double value, enum iolens_op op)
{
    if (op == IOLENS_SUM)
        *into += value;
    else if ((op == IOLENS_MIN) == (value < *into))
        *into = value;
}

static void fold_item(struct round *round, size_t item)
{
    enum iolens_op op = round->wire.op;
    if (round->wire.type == IOLENS_INT64)
        fold_int64((int64_t *)round->result + item, ((int64_t *)round->part)[item], op);
    else if (round->wire.type == IOLENS_DOUBLE)
        fold_double((double *)round->result + item, ((double *)round->part)[item], op);
    else
        round->result[item] &= round->part[item];
}

/* Combines the result so far, which is that of lower ranks, with the part of the next higher rank. */
static void combine_part(struct round *round)
{
    for (size_t i = 0; i < round->wire.items; i++)
        round->wire.combine(round->result + i * round->wire.item_bytes,
                            round->part + i * round->wire.item_bytes);
    memcpy(round->result, round->part, round->bytes);
}

/* Receives the data of the rank at `index` into round->part and merges it into round->result. Returns false
 * if the rank has ended. */
static bool take_part(struct round *round, int index)
{
    enum wire_call call = round->wire.call;
    if (call == WIRE_BARRIER || (call == WIRE_BCAST && index > 0))
        return true;
    if (!wire_receive(round->sockets[index], round->part, round->bytes))
        return false;
    if (call == WIRE_GATHER) {
        memcpy(round->result + (size_t)round->ranks[index] * round->bytes, round->part, round->bytes);
    } else if (call == WIRE_EXSCAN) {
        uint64_t *before = (uint64_t *)round->result;
        const uint64_t *mine = (const uint64_t *)round->part;
        if (!wire_send(round->sockets[index], before, round->bytes))
            return false;
        for (size_t i = 0; i < round->wire.items; i++)
            before[i] += mine[i];
    } else if (index == 0) {
        memcpy(round->result, round->part, round->bytes);
    } else if (call == WIRE_REDUCE) {
        combine_part(round);
    } else {
        for (size_t i = 0; i < round->wire.items; i++)
            fold_item(round, i);
    }
    return true;
}

static size_t answer_bytes(const struct round *round, int index)
{
    switch (round->wire.call) {
    case WIRE_BCAST:
        return index > 0 ? round->bytes : 0;
    case WIRE_ALLREDUCE:
        return round->bytes;
    case WIRE_GATHER:
        return index == 0 ? round->bytes * (size_t)round->size : 0;
    case WIRE_REDUCE:
        return index == 0 ? round->bytes : 0;
    default:
        return 0;
    }
}

/* Allocates the memory for the operation that rank 0 requested. */
static bool prepare(struct round *round)
{
    round->bytes = round->wire.item_bytes * round->wire.items;
    size_t parts = round->wire.call == WIRE_GATHER ? (size_t)round->size : 1;
    round->result = calloc(parts, round->bytes + sizeof(uint64_t));
    round->part = malloc(round->bytes + sizeof(uint64_t));
    return round->result && round->part;
}

static bool agree(const struct wire *a, const struct wire *b)
{
    return a->call == b->call && a->item_bytes * a->items == b->item_bytes * b->items;
}

/* Performs one collective operation. Returns the index of a rank that has ended, or ALL_WELL. */
static int do_round(struct round *round)
{
    for (int i = 0; i < round->count; i++) {
        struct wire wire = round->wire;
        if (i > 0 && (!wire_receive(round->sockets[i], &wire, sizeof wire) || !agree(&wire, &round->wire)))
            return i;
        if (!take_part(round, i))
            return i;
    }
    for (int i = 0; i < round->count; i++)
        if (!wire_send(round->sockets[i], round->result, answer_bytes(round, i)))
            return i;
    return ALL_WELL;
}

int hub_serve(const int *sockets, const int *ranks, int count, int size)
{
    struct wire wire;
    int gone = ALL_WELL;
    while (gone == ALL_WELL && wire_receive(sockets[0], &wire, sizeof wire)) {
        struct round round = {sockets, ranks, count, size, .wire = wire};
        gone = prepare(&round) ? do_round(&round) : 0;
        free(round.result);
        free(round.part);
    }
    return gone;
}

bool wire_send(int socket, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t sent = send(socket, at, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        count -= (size_t)sent;
    }
    return true;
}

bool wire_receive(int socket, void *bytes, size_t count)
{
    char *at = bytes;
    while (count > 0) {
        ssize_t got = recv(socket, at, count, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        count -= (size_t)got;
    }
    return true;
}
