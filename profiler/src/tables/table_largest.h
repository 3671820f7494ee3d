/* Tables in which each rank has a row for each of the same subjects (files that all ranks share, the process
 * itself). Their size must not grow with the number of ranks without a limit. */
#ifndef IOLENS_TABLE_LARGEST_H
#define IOLENS_TABLE_LARGEST_H

#include "process_table.h"

/* Collective. `rows` has one row per subject; all ranks have the same subjects in the same order. For each
 * subject the `most` ranks with the largest `weight` keep their rows; weights are compared by powers of two,
 * and among equals the lower rank is chosen. The rows of all others become one row on rank 0, merged as the
 * columns say; with `most` 0 it is the sum over all ranks. Returns 0, or -1. */
int table_keep_largest(enum process_table_index table, const struct iolens_transport *transport, int64_t most,
                       struct buffer *rows);

#endif
