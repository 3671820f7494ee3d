/* The collective operations that are timed, with data whose result is known without computing it by MPI. */
#ifndef COLLECTIVES_OPERATIONS_H
#define COLLECTIVES_OPERATIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Element {
    const char *name, *title; /* of the option, and MPI's */
    size_t size;              /* bytes */
} Element;

/* "char" or "double"; NULL for another name. */
const Element *element_named(const char *name);

/* One operation on one message size. A block is one message: `count` elements. */
typedef struct Exchange {
    MPI_Comm comm;
    int rank, ranks;
    const Element *element;
    MPI_Datatype type;
    int count;
    void *send, *receive;
    int *counts, *places; /* of the blocks, for the operations with vectors of them */
} Exchange;

typedef struct Operation {
    const char *name;                   /* MPI's, without MPI_ */
    bool sends_blocks, receives_blocks; /* one for each rank instead of one */
    bool reduces, to_root, from_root;
    bool empty; /* no message at all */
    void (*call)(const Exchange *exchange);
} Operation;

extern const Operation OPERATIONS[];
extern const int OPERATION_COUNT;

/* NULL when there is none of this name, whatever the case of its letters. */
const Operation *operation_named(const char *name, size_t length);

/* Bytes of both buffers for messages of `size` bytes. */
size_t operation_memory(const Operation *operation, int ranks, size_t size);

/* Buffers for messages of `size` bytes; freed by exchange_free(). */
Exchange exchange_make(const Operation *operation, const Element *element, size_t size, MPI_Comm comm);
void exchange_free(Exchange *exchange);

/* The data to send, and garbage where the result will be. */
void exchange_fill(const Operation *operation, const Exchange *exchange);

/* Element `k` of the message between two ranks: differs between neighbours in each of the three. */
unsigned char pattern(int sender, int receiver, long k);

/* Elements of this rank's result that are not what they must be. */
long long exchange_errors(const Operation *operation, const Exchange *exchange);

#endif
