#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#include "run.h"

enum { ROOT = 0, GARBAGE = 0xA5 };

static const Element ELEMENTS[] = {
    {"char", "MPI_UNSIGNED_CHAR", 1},
    {"double", "MPI_DOUBLE", sizeof(double)},
};

static void allreduce(const Exchange *x)
{
    MPI_Allreduce(x->send, x->receive, x->count, x->type, MPI_SUM, x->comm);
}

static void bcast(const Exchange *x) { MPI_Bcast(x->receive, x->count, x->type, ROOT, x->comm); }

static void reduce(const Exchange *x)
{
    MPI_Reduce(x->send, x->receive, x->count, x->type, MPI_SUM, ROOT, x->comm);
}

static void allgather(const Exchange *x)
{
    MPI_Allgather(x->send, x->count, x->type, x->receive, x->count, x->type, x->comm);
}

static void allgatherv(const Exchange *x)
{
    MPI_Allgatherv(x->send, x->count, x->type, x->receive, x->counts, x->places, x->type, x->comm);
}

static void alltoall(const Exchange *x)
{
    MPI_Alltoall(x->send, x->count, x->type, x->receive, x->count, x->type, x->comm);
}

static void gatherv(const Exchange *x)
{
    MPI_Gatherv(x->send, x->count, x->type, x->receive, x->counts, x->places, x->type, ROOT, x->comm);
}

static void scatterv(const Exchange *x)
{
    MPI_Scatterv(x->send, x->counts, x->places, x->type, x->receive, x->count, x->type, ROOT, x->comm);
}

static void barrier(const Exchange *x) { MPI_Barrier(x->comm); }

// clang-format off
const Operation OPERATIONS[] = {
    {"Allreduce", .reduces = true, .call = allreduce},
    {"Bcast", .from_root = true, .call = bcast},
    {"Reduce", .reduces = true, .to_root = true, .call = reduce},
    {"Allgather", .receives_blocks = true, .call = allgather},
    {"Allgatherv", .receives_blocks = true, .call = allgatherv},
    {"Alltoall", .sends_blocks = true, .receives_blocks = true, .call = alltoall},
    {"Gatherv", .receives_blocks = true, .to_root = true, .call = gatherv},
    {"Scatterv", .sends_blocks = true, .from_root = true, .call = scatterv},
    {"Barrier", .empty = true, .call = barrier},
};
// clang-format on

const int OPERATION_COUNT = sizeof OPERATIONS / sizeof OPERATIONS[0];

const Element *element_named(const char *name)
{
    for (size_t i = 0; i < sizeof ELEMENTS / sizeof ELEMENTS[0]; i++)
        if (strcmp(ELEMENTS[i].name, name) == 0)
            return &ELEMENTS[i];
    return NULL;
}

const Operation *operation_named(const char *name, size_t length)
{
    for (int i = 0; i < OPERATION_COUNT; i++)
        if (strlen(OPERATIONS[i].name) == length && strncasecmp(OPERATIONS[i].name, name, length) == 0)
            return &OPERATIONS[i];
    return NULL;
}

static int blocks(bool many, int ranks) { return many ? ranks : 1; }

size_t operation_memory(const Operation *operation, int ranks, size_t size)
{
    return size * ((size_t)blocks(operation->sends_blocks, ranks) +
                   (size_t)blocks(operation->receives_blocks, ranks));
}

Exchange exchange_make(const Operation *operation, const Element *element, size_t size, MPI_Comm comm)
{
    Exchange x = {.comm = comm, .element = element, .count = (int)(size / element->size)};
    x.type = element->size == 1 ? MPI_UNSIGNED_CHAR : MPI_DOUBLE;
    MPI_Comm_rank(comm, &x.rank);
    MPI_Comm_size(comm, &x.ranks);
    x.send = allocate(blocks(operation->sends_blocks, x.ranks), size);
    x.receive = allocate(blocks(operation->receives_blocks, x.ranks), size);
    x.counts = allocate(x.ranks, sizeof(int));
    x.places = allocate(x.ranks, sizeof(int));
    for (int r = 0; r < x.ranks; r++) {
        x.counts[r] = x.count;
        x.places[r] = x.count * r;
    }
    return x;
}

void exchange_free(Exchange *x)
{
    free(x->send);
    free(x->receive);
    free(x->counts);
    free(x->places);
}

unsigned char pattern(int sender, int receiver, long k)
{
    return (unsigned char)(1 + sender * 37 + receiver * 101 + k * 7 + (k >> 8) * 3);
}

/* Returns the summand of rank `sender` for element `k`. The sum stays below 256, because MPI libraries
 * differ beyond that: some of them saturate at the largest char. */
static unsigned char addend(int sender, int ranks, long k)
{
    int most = UCHAR_MAX / ranks;
    if (most == 0)
        return k % ranks == sender;
    return (unsigned char)(1 + pattern(sender, 0, k) % most);
}

static void put(const Exchange *x, void *buffer, long place, unsigned char number)
{
    if (x->element->size == 1)
        ((unsigned char *)buffer)[place] = number;
    else
        ((double *)buffer)[place] = number;
}

static double get(const Exchange *x, const void *buffer, long place)
{
    return x->element->size == 1 ? ((const unsigned char *)buffer)[place] : ((const double *)buffer)[place];
}

void exchange_fill(const Operation *operation, const Exchange *x)
{
    size_t bytes = (size_t)x->count * x->element->size;
    memset(x->receive, GARBAGE, bytes * (size_t)blocks(operation->receives_blocks, x->ranks));
    for (int b = 0; b < blocks(operation->sends_blocks, x->ranks); b++)
        for (long k = 0; k < x->count; k++)
            put(x, x->send, (long)b * x->count + k,
                operation->reduces ? addend(x->rank, x->ranks, k)
                                   : pattern(x->rank, operation->sends_blocks ? b : 0, k));
    /* A broadcast uses one buffer on each rank. */
    if (operation->from_root && !operation->sends_blocks && x->rank == ROOT)
        memcpy(x->receive, x->send, bytes);
}

static double expected(const Operation *operation, const Exchange *x, int block, long k)
{
    if (!operation->reduces)
        return pattern(operation->receives_blocks ? block : ROOT, operation->sends_blocks ? x->rank : 0, k);
    int sum = 0;
    for (int r = 0; r < x->ranks; r++)
        sum += addend(r, x->ranks, k);
    return sum;
}

long long exchange_errors(const Operation *operation, const Exchange *x)
{
    long long errors = 0;
    if (operation->to_root && x->rank != ROOT)
        return 0;
    for (int b = 0; b < blocks(operation->receives_blocks, x->ranks); b++)
        for (long k = 0; k < x->count; k++)
            errors += get(x, x->receive, (long)b * x->count + k) != expected(operation, x, b, k);
    return errors;
}
