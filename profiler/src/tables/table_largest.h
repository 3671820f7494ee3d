/* Tables with a row of each rank for the same things (files that all ranks share, the process itself),
 * whose size must not grow without bounds with the ranks. */
#ifndef IOLENS_TABLE_LARGEST_H
#define IOLENS_TABLE_LARGEST_H

#include "process_table.h"

/* Collective. `rows` has one row per thing, the same things in the same order on all ranks. For each thing
 * the `most` ranks with the largest `weight` (compared by powers of two; the lower of equal ranks) keep
 * their rows. The rows of all others become one row on rank 0, merged as the columns say; with `most` 0 it
 * is the sum over all ranks. Returns 0, or -1. */
int table_keep_largest(enum process_table_index table, const struct iolens_transport *transport, int64_t most,
                       struct buffer *rows);

#endif
