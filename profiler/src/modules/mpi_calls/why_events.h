/* Calls of MPI and of the file system, in the order of each process, with their times and with the data
 * that joins them to calls of other ranks. The report finds from them who waited for whom, and why
 * (IOLENS_WHY). */
#ifndef IOLENS_WHY_EVENTS_H
#define IOLENS_WHY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../system/usage.h"

/* Returns true if IOLENS_WHY asks for events. */
bool why_wanted(void);

/* Keeps a visit of the calling thread to a region as an event, if this is the first thread. */
void why_region_left(uint32_t region, double begin, double end);

/* Finds how long the first thread of a rank did not compute in the gaps between its calls: it was ready to
 * run and had no core, it waited for a page of a file, or it slept. */

/* State of the search for time between two calls in which the thread could not compute. Times are seconds
 * since this process started recording; 0: never. */
struct gaps {
    double read; /* Time of the latest reading of the thread's state. */
    struct usage usage;
    int64_t major_faults;
    double ended;         /* End of the latest call. */
    double entered, left; /* Begin of the latest call of MPI, and end of the latest one that was kept. */
};

/* The seconds in a gap by cause. */
struct held {
    double core, fault, sleep;
};

/* Returns true if the latest reading is so long ago that another reading costs little. */
bool gaps_due(const struct gaps *gaps, double now);

/* Returns how long each cause held up the thread in the gap between its latest call and the call from `t0` to
 * `now`; `now` equals `t0` if that call has not run yet. Returns zeros in a short gap, inside a call of MPI,
 * or if no reading is due. */
struct held gaps_look(struct gaps *gaps, double t0, double now);

/* Notes that a call of MPI ended. */
void gaps_left(struct gaps *gaps, double end);

#endif
