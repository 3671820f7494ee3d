/* The border between the MPI-free core (libiolens.so) and an MPI adapter.
 *
 * Everything an adapter may call is declared here, and everything the core needs of MPI is in
 * struct iolens_transport. All functions are safe to call when recording is off: they do nothing. */
#ifndef IOLENS_ADAPTER_H
#define IOLENS_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IOLENS_ADAPTER_ABI 7

enum iolens_type { IOLENS_INT64, IOLENS_DOUBLE, IOLENS_UINT8 };
enum iolens_op { IOLENS_MIN, IOLENS_MAX, IOLENS_SUM, IOLENS_BAND };

/* Merge the record `in` of a lower or equal rank range into `inout`. Pure; called in rank order. */
typedef void iolens_combine_fn(const void *in, void *inout);

/* Collective operations on a private duplicate of MPI_COMM_WORLD. Each returns 0, or -1 when MPI failed. */
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
};

/* Announce an adapter, from its constructor. Returns 0, or -1 when the core is disabled or its ABI differs.
 */
int iolens_adapter_attach(int abi);

/* What this thread does meanwhile is not the program's: MPI is being initialised. */
void iolens_pause(bool on);

/* After MPI_Init: from now on this process is `rank` of `size`. The transport must stay valid. */
void iolens_parallel_start(const struct iolens_transport *transport);

/* In MPI_Finalize, before the real one: reduce, write the one log of the job collectively, stop recording. */
void iolens_parallel_finish(void);

/* Seconds since this process started recording, by the core's clock. */
double iolens_now(void);

/* True while records are being taken. */
bool iolens_recording(void);

/* MPI-IO module ----------------------------------------------------------------------------------- */

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

/* Calls that Darshan's record has no slot for. */
enum iolens_mpiio_extra {
#define MPIIO_EXTRA(name, meaning) IOLENS_MPIIO_##name,
#include "modules/mpiio_extra.def"
#undef MPIIO_EXTRA
    IOLENS_MPIIO_EXTRAS
};

/* A successful MPI_File_open took [t0, t1]. `path` without the "ufs:" kind of prefix; `collective` when the
 * communicator has more than one rank; `hints` when the Info was not MPI_INFO_NULL. */
struct iolens_mpiio_file *iolens_mpiio_open(const char *path, int amode, bool collective, bool hints,
                                            double t0, double t1);
/* Which implementation of MPI-IO opened the first file; "": not known. */
void iolens_mpiio_component(const char *name);

/* True when the offsets of the file's transfers are wanted. */
bool iolens_mpiio_traced(const struct iolens_mpiio_file *file);

/* `offset` counts bytes from the start of the file; -1: not known. */
void iolens_mpiio_transfer(struct iolens_mpiio_file *file, enum iolens_mpiio_kind kind, int64_t offset,
                           int64_t bytes, double t0, double t1);

/* POSIX time that this process has spent in the file so far, in seconds. */
double iolens_mpiio_access(const struct iolens_mpiio_file *file);

/* A blocking collective transfer took [t0, t1]; `access_before`: the access time when it began. */
void iolens_mpiio_collective(struct iolens_mpiio_file *file, double t0, double t1, double access_before);

void iolens_mpiio_view(struct iolens_mpiio_file *file, bool hints, double t0, double t1);
void iolens_mpiio_sync(struct iolens_mpiio_file *file, double t0, double t1);
void iolens_mpiio_close(struct iolens_mpiio_file *file, double t0, double t1);

/* A call that Darshan has no slot for took [t0, t1], on an open file or on the one at a path. */
void iolens_mpiio_other(const struct iolens_mpiio_file *file, enum iolens_mpiio_extra which, double t0,
                        double t1);
void iolens_mpiio_other_path(const char *path, enum iolens_mpiio_extra which, double t0, double t1);

/* One hint of a file for the private region `mpiio_hints`; `requested` by the program, `given` by the user
 * from outside, in its place; a value may be NULL when there is none. A later
 * call for the same key replaces the values that are not NULL. */
void iolens_mpiio_hint(struct iolens_mpiio_file *file, const char *key, const char *requested,
                       const char *given, const char *effective);

#endif
