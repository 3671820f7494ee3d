/* Collective reads and writes of a shared file by the two-phase method, on POSIX calls and messages: ranks
 * send their data to aggregators, each of which moves its file domain in large pieces.
 *
 * Hints that are used: cb_nodes (candidates for aggregators; default every rank, or with bound domains as
 * many as stripes), cb_config_list (`*:K`: at most K of them on a node; `*:*`, the default: any number),
 * cb_buffer_size (default 16 MiB), striping_unit (default the file's stripe size, else 1 MiB) and
 * romio_lustre_co_ratio (aggregators for each stripe of a file with bound domains; default 1). Operations
 * are collective; an error is noted on the rank where it happens, and the caller asks all ranks. */
#ifndef COMMON_TWO_PHASE_H
#define COMMON_TWO_PHASE_H

#include "fail.h"
#include "file_domain.h"
#include "hints.h"

/* Records which bytes the aggregators of a two-phase file wrote, and how they shared stripes: a stripe, or
 * the object on a target that holds every n-th stripe, costs a lock when it passes from one aggregator to
 * another. */

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

/* The `io_component` of results whose data this method moved. */
#define TWO_PHASE_COMPONENT "two-phase"

typedef struct TwoPhase {
    MPI_Comm comm;
    int rank, ranks;
    const char *path;
    int descriptor;
    int candidates;      /* Number of ranks that may be aggregators. */
    FileDomains domains; /* Domains of the latest call; its aggregators are the first of the candidates. */
    int stripe_count;    /* Number of stripes; 0 if unknown. */
    int64_t calls;
    char *buffer; /* Buffer of an aggregator, with room for `room` bytes. */
    int64_t room;
    Trouble *trouble;
    WriteLog writes; /* Writes of this rank, which the caller frees with writes_free. */
} TwoPhase;

/* Notes a hint whose value is invalid; opening the file would note it as well. */
void two_phase_check_hints(const Hints *hints, Trouble *trouble);

/* Opens the file and creates it for writing. `path` and `trouble` must exist as long as the file is open. */
void two_phase_open(TwoPhase *file, const char *path, bool writing, DomainKind kind, const Hints *hints,
                    MPI_Comm comm, Trouble *trouble);

/* Moves this rank's pieces, whose data follow one another in `data`. Pieces are in the order of the file and
 * do not overlap; there may be none. */
void two_phase_write(TwoPhase *file, const Piece *pieces, size_t count, const void *data);
void two_phase_read(TwoPhase *file, const Piece *pieces, size_t count, void *data);

/* Reports the settings in effect under the names of MPI-IO's hints. As in ROMIO's Lustre driver, cb_nodes
 * is the number of candidates, some of which may get no work from stripe-bound domains. */
void two_phase_hints(const TwoPhase *file, Hints *hints);

/* Flushes the data that this rank wrote to storage. */
void two_phase_sync(TwoPhase *file);

/* Closes the file, after a flush if requested. The log of writes is kept. */
void two_phase_close(TwoPhase *file, bool flush);

#endif
