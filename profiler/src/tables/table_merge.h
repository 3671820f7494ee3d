/* Merging rows of a process table, as its columns say. */
#ifndef IOLENS_TABLE_MERGE_H
#define IOLENS_TABLE_MERGE_H

#include "process_table.h"

/* Merge the row `from` into `to`. Columns that have no rule keep what `to` holds. */
void table_merge_row(const struct process_table *type, const void *from, void *to);

/* Rows with the same values in all columns of COLUMN_KEY become one; the order of the others stays. */
void table_fold(const struct process_table *type, struct buffer *rows);

/* Collective. When all ranks together have more than `most` rows: those with the largest `weight` stay
 * (counted between powers of two; of equal ones those of the lower rank), and the others are merged with the
 * help of the table's `rest`, into one row for each of its `rest_slots`, on rank 0. Returns 0, or -1. */
int table_bound(enum process_table_index table, const struct iolens_transport *transport, int64_t most,
                struct buffer *rows);

#endif
