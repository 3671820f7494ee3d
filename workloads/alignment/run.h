/* Writes and reads the file in transfers of equal size: in segment s rank r of P ranks moves transfer number
 * s * P + r of the file. The data depends on the offset, so that misplaced data is found. */
#ifndef ALIGNMENT_RUN_H
#define ALIGNMENT_RUN_H

#include "config.h"
#include "result.h"
#include "two_phase.h"

#include <limits.h>

typedef struct Run {
    const Config *config;
    MPI_Comm comm;
    int rank, ranks;
    char path[PATH_MAX];
    uint64_t *data; /* Memory for the data of one transfer. */
    int64_t words;
    Trouble trouble;
    TwoPhase file;
    Hints effective;
    /* Seconds of this rank: in writing, in reading, and from the open to the close. */
    double write_seconds, read_seconds, total_seconds;
    long long wrong; /* Number of words on all ranks that differ from the written ones. */
    ResultFile looked_at;
} Run;

/* Writes the file, reads it back on other ranks and compares. Ends the program when I/O fails. Collective. */
void run_all(Run *run, const Config *config, MPI_Comm comm);

#endif
