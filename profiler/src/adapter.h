/* The border between the MPI-free core (libiolens.so) and an MPI adapter.
 *
 * adapter.def lists the functions that an adapter may call; struct iolens_transport has everything that the
 * core needs of MPI. All functions may be called while recording is off; they then do nothing. */
#ifndef IOLENS_ADAPTER_H
#define IOLENS_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IOLENS_ADAPTER_ABI 18

enum iolens_type { IOLENS_INT64, IOLENS_DOUBLE, IOLENS_UINT8 };
enum iolens_op { IOLENS_MIN, IOLENS_MAX, IOLENS_SUM, IOLENS_BAND };

/* Merges the record `in`, which comes from lower or the same ranks, into `inout`. The result must depend on
 * these two records only. Called in rank order. */
typedef void iolens_combine_fn(const void *in, void *inout);

/* Communication between ranks on a private duplicate of MPI_COMM_WORLD. Each function returns 0, or -1 if
 * MPI failed. */
struct iolens_transport {
    int rank;
    int size;
    const char *mpi_version; /* The line that MPI_Get_library_version returns. */
    int (*barrier)(void);
    int (*bcast)(void *buffer, size_t bytes, int root);
    int (*allreduce)(void *buffer, size_t count, enum iolens_type type, enum iolens_op op);
    /* Replaces this rank's values by their sums over all lower ranks; rank 0 gets 0. */
    int (*exscan_sum)(uint64_t *values, size_t count);
    /* Gathers blocks of equal size on rank 0. */
    int (*gather)(const void *send, size_t bytes, void *receive);
    /* Combines `count` records of `record_bytes` in rank order; the result is in rank 0's buffer. */
    int (*reduce_records)(void *records, size_t record_bytes, size_t count, iolens_combine_fn *combine);
    /* Functions for messages between two ranks; both pointers are NULL if ranks cannot send messages to each
       other. */
    int (*send)(const void *buffer, size_t bytes, int rank);
    int (*receive)(void *buffer, size_t bytes, int rank);
};

/* The record of an open MPI file; adapters only hand the pointer on. NULL means that the file is not
 * recorded, and every function accepts it. */
struct iolens_mpiio_file;

enum iolens_mpiio_kind {
    IOLENS_INDEP_READ,
    IOLENS_INDEP_WRITE,
    IOLENS_COLL_READ,
    IOLENS_COLL_WRITE,
    IOLENS_SPLIT_READ,
    IOLENS_SPLIT_WRITE,
    IOLENS_NB_READ,
    IOLENS_NB_WRITE
};

/* A nested pattern of pieces of `bytes` each: count[0] pieces at distances of stride[0], count[1] groups of
 * these at distances of stride[1], and so on; a count of 1 means no further group. */
struct iolens_run {
    int64_t offset, bytes, count[3], stride[3];
};

/* The bytes that a file view shows: the file type, repeated after `extent` bytes from `displacement` on.
 * `runs` is -1 for kinds of file types that are not decoded. All values are bytes. */
struct iolens_view {
    int64_t displacement, extent, bytes, runs;
    const struct iolens_run *run;
};

/* Calls of MPI-IO that Darshan's record has no counter for. */
enum iolens_mpiio_extra {
#define MPIIO_EXTRA(name, meaning) IOLENS_MPIIO_##name,
#include "mpiio_extra.def"
#undef MPIIO_EXTRA
    IOLENS_MPIIO_EXTRAS
};

/* The MPI functions that are counted if MPI is traced. */
enum iolens_mpi_function {
#define NAME(name) IOLENS_MPI_##name,
#include "mpi_call_names.def"
#undef NAME
    IOLENS_MPI_FUNCTIONS
};

/* The parts of MPI that are recorded, as bits. */
enum iolens_mpi_tracing {
    IOLENS_MPI_CALLS = 1,
    IOLENS_MPI_SYNC = 2,          /* Time a barrier in front of each collective call. */
    IOLENS_MPI_LATE_RECEIVES = 4, /* Record whether each message arrived before its receive was posted. */
    /* Record each call as an event, with the message or communicator that links it to calls of other
     * ranks. */
    IOLENS_MPI_WHY = 8
};

/* The data recorded about calls of traced functions, as bits. */
enum iolens_tracing { IOLENS_TRACE_CALLS = 1, IOLENS_TRACE_COUNTERS = 2 };

/* A call of one of the program's own functions. */
struct iolens_called {
    uintptr_t function; /* Address of the called function. */
    double t0;
    double spent; /* Value of iolens_spent, the seconds that this thread had spent in timed calls, when the
                     call began. */
};

/* A call of MPI that has returned. */
struct iolens_mpi_call {
    enum iolens_mpi_function function;
    double t0, t1;
    uintptr_t caller; /* Return address of the call in the program. */
};

/* Kinds of links between a call of MPI and calls of other ranks, by which the report finds who waited for
 * whom. */
enum iolens_link_kind {
    IOLENS_LINK_NONE, /* The call has no known partner on another rank. */
    IOLENS_LINK_SEND,
    IOLENS_LINK_POST_SEND,
    IOLENS_LINK_RECEIVE,
    IOLENS_LINK_POST_RECEIVE,
    IOLENS_LINK_COMPLETION,
    IOLENS_LINK_COLLECTIVE,
    IOLENS_LINK_POST_COLLECTIVE,
    IOLENS_LINK_WINDOW,    /* The begin or end of an epoch of one-sided communication. */
    IOLENS_LINK_NEIGHBOUR, /* A neighbour in the topology of the communicator that the call has made. */
    IOLENS_LINKS
};

/* Special values of `peer` and `tag`; all other values are ranks of MPI_COMM_WORLD and the program's tags. */
enum { IOLENS_NO_PEER = -1, IOLENS_ANY = -2, IOLENS_CANCELLED = -3, IOLENS_NOBODY = -4 };

/* One message or collective call, by which the report matches the calls of several ranks with one another. */
struct iolens_link {
    enum iolens_link_kind kind;
    uint32_t communicator; /* Number of the communicator, equal on all its ranks; 0 if unknown. */
    /* Rank at the other end of a message, root of a collective call, partner in an epoch, or neighbour; and
     * the tag, which is 1 for an exclusive lock of a window, and for a neighbour that this rank receives
     * from. */
    int peer, tag;
    int size; /* Number of ranks in a collective call. */
    int64_t bytes;
    /* Only for a completing call: the value that iolens_mpi_link returned for the call that posted the
     * request. */
    int64_t request;
    const char *name; /* Name of a function that has no number in enum iolens_mpi_function; NULL for all other
                       * functions. */
};

#define BORDER(returns, name, parameters, meaning) returns name parameters;
#include "adapter.def"
#undef BORDER

#endif
