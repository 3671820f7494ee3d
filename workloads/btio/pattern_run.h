/* The timed operations of the pattern: all dumps written, all dumps read. */
#ifndef BTIO_PATTERN_RUN_H
#define BTIO_PATTERN_RUN_H

#include "pattern.h"
#include "result.h"

/* Seconds over the ranks. */
typedef struct Operation {
    bool writing;
    Spread total;             /* from before the file is opened until it is closed, without what follows */
    Spread setup, post, wait; /* opening; the calls of all dumps; waiting for nonblocking ones */
    Spread transfer;          /* post and wait */
    long long calls;          /* data calls of a rank */
    long long wrong; /* values read that are not what was written, of all ranks; 0 when not looked at */
} Operation;

/* Performs one operation and removes the file when it fails; ends the program then. Collective. */
Operation pattern_operate(Pattern *pattern, bool writing, bool check);

#endif
