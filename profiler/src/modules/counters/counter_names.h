/* The counters by their numbers: their names, and the reasons why one has no count, in this process or in
 * the one that is recovered. */
#ifndef IOLENS_COUNTER_NAMES_H
#define IOLENS_COUNTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counts.h"

enum { COUNTER_NAME_BYTES = 64, COUNTER_PLACES = SOFT_COUNTERS + EVENTS };

/* How many counters there are; 0: none were read. */
int counters_number(void);

/* False where the counter says nothing of a part of the run. */
bool counter_is_of_parts(int counter);

const char *counter_name(int counter);

/* A number below COUNTER_PLACES for each name that a counter may have. */
size_t counter_place(const char *name);

/* Why there is no count of the whole run, or of a part of it, in which the counter ran for so many ns.
 * "": there is one. */
const char *counter_missing(int counter, bool whole_run, int64_t running);

#endif
