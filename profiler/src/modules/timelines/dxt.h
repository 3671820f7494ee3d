/* The modules DXT_POSIX and DXT_MPIIO: every single transfer of a file, with its offset, size and times. */
#ifndef IOLENS_DXT_H
#define IOLENS_DXT_H

#include <stdbool.h>
#include <stdint.h>

#include "../../records/module.h"

/* As it stands in the log. */
struct dxt_segment {
    int64_t offset, bytes; /* offset -1: not known */
    double t0, t1;
};

/* Segments of one direction in the order in which the calls ended, in chunks of the arena. */
struct dxt_trace {
    struct dxt_segment *next, *end; /* room in the last chunk */
    struct dxt_chunk *first, *last;
};

/* One file in one of the two modules. */
struct dxt {
    enum module_index module;
    struct dxt_trace trace[2]; /* read, written */
};

/* The file's trace, or NULL when it is not to be traced. */
struct dxt *dxt_of(struct file *file, enum module_index module);

/* Room for another segment; false when there is no more memory for it. */
bool dxt_grow(struct dxt *dxt, struct dxt_trace *trace);

/* Expects the lock of the file's state to be held. `dxt` may be NULL. */
static inline void dxt_add(struct dxt *dxt, bool writing, int64_t offset, int64_t bytes, double t0, double t1)
{
    struct dxt_trace *trace = dxt ? &dxt->trace[writing] : NULL;
    if (trace && (trace->next != trace->end || dxt_grow(dxt, trace)))
        *trace->next++ = (struct dxt_segment){offset, bytes, t0, t1};
}

#endif
