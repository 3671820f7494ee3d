/* Records which bytes the aggregators of a two-phase file wrote, and how they shared stripes: a stripe, or
 * the object on a target that holds every n-th stripe, costs a lock when it passes from one aggregator to
 * another. */
#ifndef COMMON_WRITE_LOG_H
#define COMMON_WRITE_LOG_H

#include "fail.h"

#include <stdint.h>

/* A run of bytes that an aggregator wrote at once. */
typedef struct AggregatorWrite {
    int64_t call, round; /* of the collective calls on the open file; of this call's rounds */
    int64_t aggregator, rank;
    int64_t offset, bytes;
} AggregatorWrite;

typedef struct WriteLog {
    AggregatorWrite *list;
    size_t count, room;
} WriteLog;

void writes_note(WriteLog *log, const AggregatorWrite *write);

/* Collective: on rank 0 the writes of all ranks in the order of call, round and offset; empty on others. */
WriteLog writes_gather(const WriteLog *own, MPI_Comm comm);

void writes_free(WriteLog *log);

/* One line for each write: call,round,aggregator,rank,offset,bytes. Written aside, then renamed. */
void writes_save(const WriteLog *log, const char *path, Trouble *trouble);

/* The sharing of units of the file: its stripes, or the objects in which they lie. */
typedef struct Sharing {
    int64_t units;
    int64_t most;    /* distinct aggregators of the unit that has most */
    double mean;     /* distinct aggregators for each unit */
    int64_t changes; /* times that a unit's next write came from another aggregator */
} Sharing;

/* `objects` 0: of stripes; else of that many objects, to which stripes go in turn. */
Sharing writes_sharing(const WriteLog *log, int64_t stripe_size, int64_t objects, int aggregators);

/* Writes that begin or end within a stripe. */
int64_t writes_unaligned(const WriteLog *log, int64_t stripe_size);

#endif
