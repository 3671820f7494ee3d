/* The timed operations of the pattern: all dumps written, all dumps read. */
#ifndef BTIO_PATTERN_RUN_H
#define BTIO_PATTERN_RUN_H

#include "pattern.h"
#include "result.h"

/* Results of one operation; times are in seconds, as spreads over the ranks. */
typedef struct Operation {
    bool writing;
    Spread total; /* Time from before the file is opened until it is closed. */
    /* Times of opening, of the calls of all dumps, and of waiting for nonblocking calls. */
    Spread setup, post, wait;
    Spread transfer; /* Time of the calls and the waiting together. */
    long long calls; /* Number of data calls of a rank. */
    /* Number of values, on all ranks, that differ from the written ones; 0 if they were not compared. */
    long long wrong;
} Operation;

/* Performs one operation. If it fails, removes the file and ends the program. Collective. */
Operation pattern_operate(Pattern *pattern, bool writing, bool check);

#endif
