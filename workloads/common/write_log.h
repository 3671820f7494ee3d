/* Records which bytes the aggregators of a two-phase file wrote, and how they shared stripes: a stripe, or
 * the object on a target that holds every n-th stripe, costs a lock when it passes from one aggregator to
 * another. */
#ifndef COMMON_WRITE_LOG_H
#define COMMON_WRITE_LOG_H

#include "fail.h"

#include <stdint.h>

/* A run of bytes that an aggregator wrote in one call. */
typedef struct AggregatorWrite {
    /* Number of the collective call on the open file, and number of the round in that call. */
    int64_t call, round;
    int64_t aggregator, rank;
    int64_t offset, bytes;
} AggregatorWrite;

typedef struct WriteLog {
    AggregatorWrite *list;
    size_t count, room;
} WriteLog;

void writes_note(WriteLog *log, const AggregatorWrite *write);

/* Collective: rank 0 gets the writes of all ranks in the order of call, round and offset; other ranks get
 * none. */
WriteLog writes_gather(const WriteLog *own, MPI_Comm comm);

void writes_free(WriteLog *log);

/* Writes one line for each write: call,round,aggregator,rank,offset,bytes. The file is written under another
 * name and then renamed. */
void writes_save(const WriteLog *log, const char *path, Trouble *trouble);

/* Describes how aggregators share the units of a file. The units are its stripes, or the objects in which the
 * stripes lie. */
typedef struct Sharing {
    int64_t units;
    int64_t most;    /* Largest number of distinct aggregators of a unit. */
    double mean;     /* Mean number of distinct aggregators of a unit. */
    int64_t changes; /* Number of times that a unit's next write came from another aggregator. */
} Sharing;

/* Computes how aggregators share stripes if `objects` is 0, else how they share that many objects, to which
 * the stripes are assigned in turn. */
Sharing writes_sharing(const WriteLog *log, int64_t stripe_size, int64_t objects, int aggregators);

/* Returns the number of writes that begin or end within a stripe. */
int64_t writes_unaligned(const WriteLog *log, int64_t stripe_size);

#endif
