/* Tables in which every rank has a row about the same subjects, such as each file that all ranks share, or
 * the process itself. A limit keeps their size from growing with the number of ranks. */
#ifndef IOLENS_TABLE_LARGEST_H
#define IOLENS_TABLE_LARGEST_H

#include "process_table.h"

/* Collective. `rows` has one row per subject; all ranks have the same subjects in the same order. For each
 * subject the `most` ranks with the largest `weight` keep their rows; weights are compared by powers of two,
 * and among equals the lower rank is chosen. For each subject, the rows of the other ranks are merged into
 * one row on rank 0, by the rules of the columns. If `most` is 0, that row is the sum over all ranks. Returns
 * 0, or -1. */
int table_keep_largest(enum process_table_index table, const struct iolens_transport *transport, int64_t most,
                       struct buffer *rows);

#endif
