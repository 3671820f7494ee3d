/* Names of the counters by number, and the reason why a counter has no value. */
#ifndef IOLENS_COUNTER_NAMES_H
#define IOLENS_COUNTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counts.h"

enum { COUNTER_NAME_BYTES = 64, COUNTER_PLACES = SOFT_COUNTERS + EVENTS };

/* Returns the number of counters; 0 if none were read. */
int counters_number(void);

/* Returns true if the counter has a value for regions too, and false if it has one for a whole run only. */
bool counter_is_of_parts(int counter);

const char *counter_name(int counter);

/* Returns a number below COUNTER_PLACES that stands for the counter of this name. */
size_t counter_place(const char *name);

/* Returns the reason why a counter has no value for the whole run or for part of the run, given how many ns
 * it ran; "" if it has a value. */
const char *counter_missing(int counter, bool whole_run, int64_t running);

#endif
