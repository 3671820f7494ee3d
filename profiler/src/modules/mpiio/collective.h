/* Collective MPI-IO transfers of one file: where their time went, on every rank.
 *
 * A call's time has three parts: waiting, until the last rank has entered it; file access, the POSIX time
 * that this process spent in the file meanwhile; the rest, which is exchange of data and bookkeeping. The
 * first needs all ranks' times and is found when the log is written. */
#ifndef IOLENS_COLLECTIVE_H
#define IOLENS_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "../../memory/area.h"
#include "../../runtime/timeline.h"

enum { COLLECTIVE_CHUNK = 128, COLLECTIVE_CHUNKS_MAX = 512 };

struct collective_call {
    double begin, seconds, access; /* s; access: POSIX time in the file during the call */
};

struct collective_chunk {
    struct collective_chunk *next;
    int used;
    struct collective_call call[COLLECTIVE_CHUNK];
};

/* The calls of one file, the first ones where there are more than fit. */
struct collective_calls {
    struct collective_chunk *first, *last;
    int64_t count, chunks, missed;
};

/* `access`: POSIX time during the call. */
void collective_add(struct collective_calls *calls, double t0, double t1, double access);

/* Returns true if the calls in a spool are valid. */
bool collective_validate(const struct collective_calls *calls, const struct area *area);

/* Once: move begins to the job's clock. */
void collective_correct(struct collective_calls *calls, const struct timeline *line);

#endif
