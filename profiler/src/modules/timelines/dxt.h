/* The modules DXT_POSIX and DXT_MPIIO: every single transfer of a file, with its offset, size and times. */
#ifndef IOLENS_DXT_H
#define IOLENS_DXT_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
