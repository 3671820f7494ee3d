/* The MPI-IO module's record; its events are declared in ../adapter.h, because the adapters call them. */
#ifndef IOLENS_MPIIO_H
#define IOLENS_MPIIO_H

#include "../../memory/area.h"
#include "../../records/frequent_values.h"
#include "../../records/shape.h"
#include "../../runtime/timeline.h"
#include "../../system/spin.h"
#include "../timelines/dxt.h"
#include "../timelines/heatmap.h"

/* Where the time of collective MPI-IO transfers went, for each file and rank. A call's time has three parts:
 * waiting until the last rank has entered the call; the POSIX time that this process spent in the file; and
 * the rest, which is data exchange and bookkeeping. The waiting time needs the times of all ranks, so it is
 * computed when the log is written. */

enum { COLLECTIVE_CHUNK = 128, COLLECTIVE_CHUNKS_MAX = 512 };

struct collective_call {
    /* Begin and length of the call in seconds, and the POSIX time in the file during the call. */
    double begin, seconds, access;
};

struct collective_chunk {
    struct collective_chunk *next;
    int used;
    struct collective_call call[COLLECTIVE_CHUNK];
};

/* The collective calls of one file; the latest ones are left out if there is no room for them. */
struct collective_calls {
    struct collective_chunk *first, *last;
    int64_t count, chunks, missed;
};

/* Records a call; `access` is the POSIX time during the call. */
void collective_add(struct collective_calls *calls, double t0, double t1, double access);

/* Returns true if the calls in a spool are valid. */
bool collective_validate(const struct collective_calls *calls, const struct area *area);

/* Converts the begins of the calls to the job's clock; must be called only once. */
void collective_correct(struct collective_calls *calls, const struct timeline *line);

enum mpiio_int {
#define INT(name, merge) MPIIO_##name,
#define DOUBLE(name, merge)
#include "mpiio_counters.def"
#undef INT
#undef DOUBLE
    MPIIO_INTS
};

enum mpiio_double {
#define INT(name, merge)
#define DOUBLE(name, merge) MPIIO_F_##name,
#include "mpiio_counters.def"
#undef INT
#undef DOUBLE
    MPIIO_DOUBLES
};

struct mpiio_record {
    struct record_base base;
    int64_t ints[MPIIO_INTS];
    double doubles[MPIIO_DOUBLES];
};

_Static_assert(sizeof(struct mpiio_record) == 560,
               "struct mpiio_record must have 560 bytes, as Darshan's version 3");

/* One MPI-IO hint; a value is NULL if the hint was not given. */
struct mpiio_hint {
    const char *key, *requested, *given, *effective;
    struct mpiio_hint *next;
};

/* The state of an MPI file; adapters hold it as their handle. */
struct iolens_mpiio_file {
    struct mpiio_record record;
    struct spin lock;
    int latest;         /* Direction of the latest transfer: 0 none, 1 read, 2 write. */
    double last_end[3]; /* End of the latest read, write and metadata operation. */
    struct heat heat;
    struct dxt *dxt; /* Trace of single transfers; NULL if the file is not traced. */
    struct frequent_values access;
    struct mpiio_hint *hints;
    struct collective_calls collectives;
};

#endif
