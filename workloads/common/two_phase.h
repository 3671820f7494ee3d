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
#include "hints.h"
#include "pieces.h"
#include "write_log.h"

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
