/* The border between the MPI-free core (libiolens.so) and an MPI adapter.
 *
 * What an adapter may call is in adapter.def, and everything the core needs of MPI is in struct
 * iolens_transport. All functions are safe to call when recording is off: they do nothing. */
#ifndef IOLENS_ADAPTER_H
#define IOLENS_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IOLENS_ADAPTER_ABI 13

enum iolens_type { IOLENS_INT64, IOLENS_DOUBLE, IOLENS_UINT8 };
enum iolens_op { IOLENS_MIN, IOLENS_MAX, IOLENS_SUM, IOLENS_BAND };

/* Merge the record `in` of a lower or equal rank range into `inout`. Pure; called in rank order. */
typedef void iolens_combine_fn(const void *in, void *inout);

/* What ranks say to one another, on a private duplicate of MPI_COMM_WORLD. Each returns 0, or -1 when MPI
 * failed. */
struct iolens_transport {
    int rank;
    int size;
    const char *mpi_version; /* MPI_Get_library_version, one line */
    int (*barrier)(void);
    int (*bcast)(void *buffer, size_t bytes, int root);
    int (*allreduce)(void *buffer, size_t count, enum iolens_type type, enum iolens_op op);
    /* In: mine; out: sums over lower ranks, 0 on rank 0. */
    int (*exscan_sum)(uint64_t *values, size_t count);
    int (*gather)(const void *send, size_t bytes, void *receive); /* equal sizes, to rank 0 */
    /* Combine `count` records of `record_bytes` in place, result on rank 0 (its buffer), rank order kept. */
    int (*reduce_records)(void *records, size_t record_bytes, size_t count, iolens_combine_fn *combine);
    /* Point to point; NULL where ranks cannot. */
    int (*send)(const void *buffer, size_t bytes, int rank);
    int (*receive)(void *buffer, size_t bytes, int rank);
};

struct iolens_mpiio_file; /* opaque; NULL is accepted everywhere and means "not recorded" */

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

/* Pieces of `bytes` each: count[0] of them at distances of stride[0], count[1] such groups at distances of
 * stride[1], and so on; a count of 1 is no group. */
struct iolens_run {
    int64_t offset, bytes, count[3], stride[3];
};

/* What a view lets through: the file type, repeated after `extent` bytes from `displacement` on. `runs` is -1
 * where the file type is of a kind that is not taken apart. All in bytes. */
struct iolens_view {
    int64_t displacement, extent, bytes, runs;
    const struct iolens_run *run;
};

/* Calls that Darshan's record has no slot for. */
enum iolens_mpiio_extra {
#define MPIIO_EXTRA(name, meaning) IOLENS_MPIIO_##name,
#include "mpiio_extra.def"
#undef MPIIO_EXTRA
    IOLENS_MPIIO_EXTRAS
};

/* The MPI functions that are counted when MPI is traced. */
enum iolens_mpi_function {
#define NAME(name) IOLENS_MPI_##name,
#include "mpi_call_names.def"
#undef NAME
    IOLENS_MPI_FUNCTIONS
};

/* What is recorded of MPI, as bits. */
enum iolens_mpi_tracing {
    IOLENS_MPI_CALLS = 1,
    IOLENS_MPI_SYNC = 2,         /* a timed barrier before each collective call */
    IOLENS_MPI_LATE_RECEIVES = 4 /* whether a message was there before its receive */
};

/* What is recorded of calls of traced functions, as bits. */
enum iolens_tracing { IOLENS_TRACE_CALLS = 1, IOLENS_TRACE_COUNTERS = 2 };

/* A call of MPI that returned. */
struct iolens_mpi_call {
    enum iolens_mpi_function function;
    double t0, t1;
    uintptr_t caller; /* the address that it returns to */
};

#define BORDER(returns, name, parameters, meaning) returns name parameters;
#include "adapter.def"
#undef BORDER

#endif
