/* Where the time of collective MPI-IO transfers went, for each file and rank. A call's time has three parts:
 * waiting until the last rank has entered the call; the POSIX time that this process spent in the file; and
 * the rest, which is data exchange and bookkeeping. The waiting time needs the times of all ranks, so it is
 * computed when the log is written. */
#ifndef IOLENS_COLLECTIVE_H
#define IOLENS_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "../../memory/area.h"
#include "../../runtime/timeline.h"

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

#endif
