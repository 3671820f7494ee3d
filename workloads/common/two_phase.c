#include "two_phase.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEFAULT_BUFFER = 16 << 20, DEFAULT_STRIPE = 1 << 20, TAG_LIST = 1, TAG_DATA = 2 };

/* One round: the bytes that this rank exchanges with each aggregator and, on an aggregator, the bytes that it
 * exchanges with each rank. */
typedef struct Round {
    int64_t number;
    Share *given, *taken; /* `given`: by aggregator, the pieces and bytes given to it. `taken`: by rank, the
                           * pieces and bytes taken from it. */
    Piece *sent, *lists;  /* Pieces that this rank gives to aggregators; on an aggregator, pieces that it
                           * takes from ranks. */
    MPI_Request *requests;
    int pending;
} Round;

static int64_t hint_number(const Hints *hints, const char *key, int64_t otherwise, Trouble *trouble)
{
    for (int i = 0; i < hints->count; i++)
        if (strcmp(hints->list[i].key, key) == 0) {
            char *end;
            long long value = strtoll(hints->list[i].value, &end, 10);
            if (*end == '\0' && value >= 1 && value <= INT_MAX)
                return value;
            trouble_note(trouble, "--hint %s=%s: a whole number from 1 to %d is needed", key,
                         hints->list[i].value, INT_MAX);
        }
    return otherwise;
}

/* Returns the largest number of aggregators on a node, INT_MAX without a limit. Lists of hosts, which ROMIO
 * accepts, are not supported. */
static int most_on_a_node(const Hints *hints, Trouble *trouble)
{
    for (int i = 0; i < hints->count; i++)
        if (strcmp(hints->list[i].key, "cb_config_list") == 0 && strcmp(hints->list[i].value, "*:*") != 0) {
            int most = 0, end = 0;
            const char *value = hints->list[i].value;
            if (sscanf(value, "*:%d%n", &most, &end) == 1 && most >= 1 && value[end] == '\0')
                return most;
            trouble_note(trouble, "--hint cb_config_list=%s: *:K (at most K on a node) or *:* is needed",
                         value);
        }
    return INT_MAX;
}

void two_phase_check_hints(const Hints *hints, Trouble *trouble)
{
    static const char *const heeded[] = {"cb_nodes", "cb_buffer_size", "striping_unit",
                                         "romio_lustre_co_ratio"};
    for (size_t i = 0; i < sizeof heeded / sizeof heeded[0]; i++)
        hint_number(hints, heeded[i], 1, trouble);
    most_on_a_node(hints, trouble);
}

/* Returns the rank of an aggregator. As in ROMIO, the ranks are divided into equal blocks, the larger blocks
 * first, and the first rank of each block is a candidate. */
static int rank_of(const TwoPhase *file, int aggregator)
{
    int larger = file->ranks % file->candidates;
    return aggregator * (file->ranks / file->candidates) + (aggregator < larger ? aggregator : larger);
}

/* Returns this rank's number among the aggregators, or -1. */
static int own_number(const TwoPhase *file)
{
    for (int a = 0; a < file->domains.aggregators; a++)
        if (rank_of(file, a) == file->rank)
            return a;
    return -1;
}

static int nodes_of(MPI_Comm comm)
{
    MPI_Comm node;
    int rank, first, nodes;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    first = rank == 0;
    MPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, comm);
    return nodes;
}

/* Returns how many ranks may be aggregators. As in ROMIO's Lustre driver, a request for more than there are
 * ranks is ignored. */
static int candidates_of(const TwoPhase *file, DomainKind kind, const Hints *hints)
{
    bool by_stripes = kind == DOMAINS_BOUND && file->stripe_count > 0;
    int64_t usual = by_stripes ? file->stripe_count : file->ranks;
    int64_t wanted = hint_number(hints, "cb_nodes", usual, file->trouble);
    wanted = wanted <= file->ranks ? wanted : usual;
    int64_t allowed = (int64_t)most_on_a_node(hints, file->trouble) * nodes_of(file->comm);
    wanted = wanted < allowed ? wanted : allowed;
    return (int)(wanted < file->ranks ? wanted : file->ranks);
}

static void open_descriptor(TwoPhase *file, bool writing)
{
    file->descriptor = open(file->path, writing ? O_RDWR | O_CREAT : O_RDONLY, 0666);
    if (file->descriptor < 0)
        trouble_note(file->trouble, "cannot open %s: %s", file->path, strerror(errno));
}

void two_phase_open(TwoPhase *file, const char *path, bool writing, DomainKind kind, const Hints *hints,
                    MPI_Comm comm, Trouble *trouble)
{
    *file = (TwoPhase){.comm = comm, .path = path, .descriptor = -1, .trouble = trouble};
    MPI_Comm_rank(comm, &file->rank);
    MPI_Comm_size(comm, &file->ranks);
    if (file->rank == 0)
        open_descriptor(file, writing);
    MPI_Barrier(comm);
    if (file->rank != 0)
        open_descriptor(file, writing);
    Layout layout = layout_of(path);
    int64_t stripe = layout.stripe_count > 0 ? layout.stripe_size : DEFAULT_STRIPE;
    int ratio = (int)hint_number(hints, "romio_lustre_co_ratio", 1, trouble);
    file->stripe_count = layout.stripe_count;
    file->candidates = candidates_of(file, kind, hints);
    file->domains = (FileDomains){
        .kind = kind,
        .aggregators = domains_aggregators(kind, file->candidates, layout.stripe_count, ratio),
        .stripe_size = hint_number(hints, "striping_unit", stripe, trouble),
        .buffer_size = hint_number(hints, "cb_buffer_size", DEFAULT_BUFFER, trouble),
    };
}

/* Gives an aggregator's buffer room for so many bytes; it grows to the largest span that it meets. */
static void reserve(TwoPhase *file, int64_t bytes)
{
    if (bytes <= file->room)
        return;
    free(file->buffer);
    file->buffer = allocate((size_t)bytes, 1);
    file->room = bytes;
}

/* Computes the range from the first to the last byte of all ranks' pieces. */
static Span whole_range(const TwoPhase *file, const Request *request)
{
    /* The begin has the opposite sign, so that one maximum over the ranks gives both begin and end. */
    int64_t ends[2] = {-INT64_MAX, -INT64_MAX};
    if (request->count > 0) {
        const Piece *last = &request->pieces[request->count - 1];
        ends[0] = -request->pieces[0].offset;
        ends[1] = last->offset + last->bytes;
    }
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MAX, file->comm);
    return ends[1] < 0 ? (Span){0, 0} : (Span){-ends[0], ends[1]};
}

/* Returns an MPI type for a rank's pieces at their places in the aggregator's buffer. */
static MPI_Datatype places_in_buffer(const Piece *pieces, int count, int64_t begin)
{
    int *lengths = allocate(count, sizeof *lengths);
    MPI_Aint *places = allocate(count, sizeof *places);
    MPI_Datatype type;
    for (int i = 0; i < count; i++) {
        lengths[i] = (int)pieces[i].bytes;
        places[i] = (MPI_Aint)(pieces[i].offset - begin);
    }
    MPI_Type_create_hindexed(count, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    free(lengths);
    free(places);
    return type;
}

static void send_or_receive(Round *round, bool sends, void *data, int count, MPI_Datatype type, int other,
                            int tag, MPI_Comm comm)
{
    MPI_Request *request = &round->requests[round->pending++];
    if (sends)
        MPI_Isend(data, count, type, other, tag, comm, request);
    else
        MPI_Irecv(data, count, type, other, tag, comm, request);
}

static void finish(Round *round)
{
    MPI_Waitall(round->pending, round->requests, MPI_STATUSES_IGNORE);
    round->pending = 0;
}

/* Tells every aggregator which pieces this rank will send or wants to get. Returns the number of pieces that
 * this aggregator handles; `begins` receives the place where the data for each aggregator begins. */
static int exchange_lists(TwoPhase *file, const Request *request, Round *round, char **begins)
{
    int taken = 0, given = 0;
    memset(round->given, 0, (size_t)file->ranks * sizeof *round->given);
    for (int a = 0; a < file->domains.aggregators; a++) {
        Span span = domains_span(&file->domains, a, round->number);
        Share *share = &round->given[rank_of(file, a)];
        begins[a] = pieces_clip(request, span, round->sent + given, share);
        given += share->pieces;
    }
    MPI_Alltoall(round->given, 2, MPI_INT, round->taken, 2, MPI_INT, file->comm);
    for (int r = 0; r < file->ranks; r++)
        taken += round->taken[r].pieces;
    round->lists = allocate(taken, sizeof *round->lists);
    for (int r = 0, at = 0; r < file->ranks; at += round->taken[r++].pieces)
        if (round->taken[r].pieces > 0)
            send_or_receive(round, false, round->lists + at, round->taken[r].pieces * (int)sizeof(Piece),
                            MPI_BYTE, r, TAG_LIST, file->comm);
    for (int r = 0, at = 0; r < file->ranks; at += round->given[r++].pieces)
        if (round->given[r].pieces > 0)
            send_or_receive(round, true, round->sent + at, round->given[r].pieces * (int)sizeof(Piece),
                            MPI_BYTE, r, TAG_LIST, file->comm);
    finish(round);
    return taken;
}

/* Moves data between the memory of the ranks and the buffers of the aggregators. */
static void exchange_data(TwoPhase *file, const Request *request, Round *round, char **begins, int64_t begin)
{
    for (int r = 0, at = 0; r < file->ranks; at += round->taken[r++].pieces)
        if (round->taken[r].pieces > 0) {
            MPI_Datatype type = places_in_buffer(round->lists + at, round->taken[r].pieces, begin);
            send_or_receive(round, !request->writing, file->buffer, 1, type, r, TAG_DATA, file->comm);
            MPI_Type_free(&type);
        }
    for (int a = 0; a < file->domains.aggregators; a++) {
        int other = rank_of(file, a);
        if (round->given[other].pieces > 0)
            send_or_receive(round, request->writing, begins[a], round->given[other].bytes, MPI_BYTE, other,
                            TAG_DATA, file->comm);
    }
    finish(round);
}

/* Transfers one piece between the file and the aggregator's buffer. */
static void move(TwoPhase *file, bool writing, char *at, Piece piece)
{
    int64_t done = 0;
    while (done < piece.bytes && !file->trouble->any) {
        size_t left = (size_t)(piece.bytes - done);
        ssize_t moved = writing ? pwrite(file->descriptor, at + done, left, piece.offset + done)
                                : pread(file->descriptor, at + done, left, piece.offset + done);
        if (moved > 0)
            done += moved;
        else if (moved == 0)
            trouble_note(file->trouble,
                         writing ? "cannot write %s: the file system accepted no bytes" : "%s is too short",
                         file->path);
        else if (errno != EINTR)
            trouble_note(file->trouble, "cannot %s %s: %s", writing ? "write" : "read", file->path,
                         strerror(errno));
    }
}

static void move_all(TwoPhase *file, const Request *request, Round *round, int aggregator, int taken)
{
    Span span = domains_span(&file->domains, aggregator, round->number);
    Piece *runs = allocate(taken, sizeof *runs);
    if (taken > 0)
        memcpy(runs, round->lists, (size_t)taken * sizeof *runs);
    int count = pieces_join(runs, taken);
    for (int i = 0; i < count; i++) {
        move(file, request->writing, file->buffer + (runs[i].offset - span.begin), runs[i]);
        if (request->writing)
            writes_note(&file->writes, &(AggregatorWrite){file->calls, round->number, aggregator, file->rank,
                                                          runs[i].offset, runs[i].bytes});
    }
    free(runs);
}

static void transfer_round(TwoPhase *file, const Request *request, Round *round, char **begins)
{
    int own = own_number(file);
    Span span = own >= 0 ? domains_span(&file->domains, own, round->number) : (Span){0, 0};
    reserve(file, span.end - span.begin);
    int taken = exchange_lists(file, request, round, begins);
    if (request->writing)
        exchange_data(file, request, round, begins, span.begin);
    if (own >= 0)
        move_all(file, request, round, own, taken);
    if (!request->writing)
        exchange_data(file, request, round, begins, span.begin);
    free(round->lists);
}

static void transfer(TwoPhase *file, const Piece *pieces, size_t count, void *data, bool writing)
{
    Request request = {pieces, count, allocate(count, sizeof(int64_t)), data, writing};
    for (size_t i = 1; i < count; i++)
        request.places[i] = request.places[i - 1] + pieces[i - 1].bytes;
    file->domains.range = whole_range(file, &request);
    Round round = {
        .given = allocate(file->ranks, sizeof(Share)),
        .taken = allocate(file->ranks, sizeof(Share)),
        .sent = allocate(count + (size_t)file->domains.aggregators, sizeof(Piece)),
        .requests = allocate(2 * (size_t)file->ranks, sizeof(MPI_Request)),
    };
    char **begins = allocate(file->domains.aggregators, sizeof *begins);
    int64_t rounds = domains_rounds(&file->domains);
    for (round.number = 0; round.number < rounds; round.number++)
        transfer_round(file, &request, &round, begins);
    file->calls++;
    free(begins);
    free(round.requests);
    free(round.sent);
    free(round.taken);
    free(round.given);
    free(request.places);
}

void two_phase_write(TwoPhase *file, const Piece *pieces, size_t count, const void *data)
{
    transfer(file, pieces, count, (void *)(uintptr_t)data, true);
}

void two_phase_read(TwoPhase *file, const Piece *pieces, size_t count, void *data)
{
    transfer(file, pieces, count, data, false);
}

void two_phase_hints(const TwoPhase *file, Hints *hints)
{
    const struct {
        const char *key;
        int64_t value;
    } rows[] = {
        {"cb_nodes", file->candidates},
        {"cb_buffer_size",
         file->domains.kind == DOMAINS_BOUND ? file->domains.stripe_size : file->domains.buffer_size},
        {"striping_unit", file->domains.stripe_size},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char value[32];
        snprintf(value, sizeof value, "%lld", (long long)rows[i].value);
        hints_put(hints, rows[i].key, value, file->trouble);
    }
}

void two_phase_sync(TwoPhase *file)
{
    if (fsync(file->descriptor) != 0)
        trouble_note(file->trouble, "cannot flush %s: %s", file->path, strerror(errno));
}

void two_phase_close(TwoPhase *file, bool flush)
{
    free(file->buffer);
    file->buffer = NULL;
    file->room = 0;
    if (file->descriptor < 0)
        return;
    if (flush)
        two_phase_sync(file);
    if (close(file->descriptor) != 0)
        trouble_note(file->trouble, "cannot close %s: %s", file->path, strerror(errno));
    file->descriptor = -1;
}
