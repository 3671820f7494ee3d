/* The modules DXT_POSIX and DXT_MPIIO: every single transfer of a file, with its offset, size and times. */
#ifndef IOLENS_DXT_H
#define IOLENS_DXT_H

#include "../../records/module.h"

/* A segment in the form that the log has. */
struct dxt_segment {
    int64_t offset, bytes; /* Offset and size in bytes; offset -1 means unknown. */
    double t0, t1;
};

/* Segments of one direction in the order in which the calls ended, in chunks from the arena. */
struct dxt_trace {
    struct dxt_segment *next, *end; /* Begin and end of the free room in the last chunk. */
    struct dxt_chunk *first, *last;
};

/* The trace of one file in one of the two modules. */
struct dxt {
    enum module_index module;
    struct dxt_trace trace[2]; /* Traces of reads and of writes. */
};

/* Returns the file's trace; NULL if the file is not traced. */
struct dxt *dxt_of(struct file *file, enum module_index module);

/* Adds room for another segment to a trace; returns false without memory. */
bool dxt_grow(struct dxt *dxt, struct dxt_trace *trace);

/* Adds a segment; the lock of the file's state must be held. `dxt` may be NULL. */
static inline void dxt_add(struct dxt *dxt, bool writing, int64_t offset, int64_t bytes, double t0, double t1)
{
    struct dxt_trace *trace = dxt ? &dxt->trace[writing] : NULL;
    if (trace && (trace->next != trace->end || dxt_grow(dxt, trace)))
        *trace->next++ = (struct dxt_segment){offset, bytes, t0, t1};
}

struct file;

/* Reads iolens.settings once; an invalid value is reported and ignored. */
void dxt_start(void);

/* Forgets all traces. */
void dxt_reset(void);

/* Takes `bytes` from the memory for traces; returns false if too few are left. */
bool dxt_take(size_t bytes);

/* Returns true if a file is to be traced, by its name and this rank. Called at the first use of the file;
 * before MPI_Init every rank matches. */
bool dxt_wants_file(const struct file *file);

/* Returns true if a file's trace is kept when recording ends, by this rank and the file's POSIX counters. */
bool dxt_keeps_file(const struct file *file, int64_t rank);

/* Facts about a traced file that single transfers (DXT) lack: when it was opened, flushed and closed, which
 * transfers were collective, and through which view. They are recorded only while transfers are traced, and
 * use the memory reserved for traces. */

enum traced_event {
    TRACED_OPEN,
    TRACED_DUP,
    TRACED_FILENO,
    TRACED_SYNC,
    TRACED_DATA_SYNC,
    TRACED_CLOSE,
    TRACED_MPI_OPEN,
    TRACED_MPI_SYNC,
    TRACED_MPI_CLOSE,
    TRACED_COLLECTIVE, /* A blocking collective transfer. */
    TRACED_VIEW,
    TRACED_EVENTS
};

struct iolens_view;

/* Records an event of the file with this record id during [t0, t1]; `view` is the number of a file view, or
 * -1. */
void traced_event_add(uint64_t file, enum traced_event event, int64_t view, double t0, double t1);

/* Stores the description of a file view. Returns its number in this process, or -1 without room. A view equal
 * to the latest one gets the same number. */
int64_t traced_view_add(const struct iolens_view *view);

#endif
