/* The configuration of a run of collectives. */
#ifndef COLLECTIVES_CONFIG_H
#define COLLECTIVES_CONFIG_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

typedef struct Element {
    const char *name, *title; /* Name in options, and MPI's name. */
    size_t size;              /* Size of an element in bytes. */
} Element;

/* Returns the type "char" or "double"; NULL for another name. */
const Element *element_named(const char *name);

/* Buffers for one operation at one message size. A block is a message of `count` elements. */
typedef struct Exchange {
    MPI_Comm comm;
    int rank, ranks;
    const Element *element;
    MPI_Datatype type;
    int count;
    void *send, *receive;
    int *counts, *places; /* Number of elements of each block, and the element at which it begins, for
                           * operations that need them. */
} Exchange;

typedef struct Operation {
    const char *name; /* MPI's name without MPI_. */
    /* True if the operation has one block for each rank instead of a single block. */
    bool sends_blocks, receives_blocks;
    bool reduces, to_root, from_root;
    bool empty; /* True if the operation has no message. */
    void (*call)(const Exchange *exchange);
} Operation;

extern const Operation OPERATIONS[];
extern const int OPERATION_COUNT;

/* Returns the operation of this name, in upper or lower case; NULL if there is none. */
const Operation *operation_named(const char *name, size_t length);

/* Returns the bytes of both buffers for messages of `size` bytes. */
size_t operation_memory(const Operation *operation, int ranks, size_t size);

/* Allocates buffers for messages of `size` bytes; exchange_free() frees them. */
Exchange exchange_make(const Operation *operation, const Element *element, size_t size, MPI_Comm comm);
void exchange_free(Exchange *exchange);

/* Fills in the data to send, and fills the place of the result with wrong values. */
void exchange_fill(const Operation *operation, const Exchange *exchange);

/* Returns the value of element `k` in the message between two ranks. Neighbouring ranks and neighbouring
 * elements have different values. */
unsigned char pattern(int sender, int receiver, long k);

/* Returns the number of wrong elements in this rank's result. */
long long exchange_errors(const Operation *operation, const Exchange *exchange);

enum { LIMITS_MAX = 16, CHOSEN_MAX = 16 };

typedef struct Config {
    const char *names, *sizes, *datatype, *limit_list, *json;
    int iterations;
    int64_t memory; /* Largest number of bytes that each rank may use for buffers. */
    bool pingpong, oversubscribed, help;
    const Operation *chosen[CHOSEN_MAX];
    int chosen_count;
    int64_t smallest, largest; /* Smallest and largest message in bytes. */
    int64_t limits[LIMITS_MAX];
    int limit_count;
    const Element *element;
} Config;

extern const OptionTable COLLECTIVES_OPTIONS;

/* Parses and checks the options. Ends the program on bad input or --help. Collective: every rank gets the
 * same configuration. */
void config_read(Config *config, int argc, char **argv, MPI_Comm comm);

#endif
