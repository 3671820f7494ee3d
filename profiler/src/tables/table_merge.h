/* Merging rows of a process table, as its columns say. */
#ifndef IOLENS_TABLE_MERGE_H
#define IOLENS_TABLE_MERGE_H

#include "process_table.h"

/* Merge the row `from` into `to`. Columns that have no rule keep what `to` holds. */
void table_merge_row(const struct process_table *type, const void *from, void *to);

/* A row that is merged over the ranks. */
struct staged_row {
    int64_t table, rows; /* rows is 0 if there is none */
    char row[];
};

/* Merges one staged row into another of the same table, for reductions. */
void table_combine(const void *in, void *inout);

/* Chooses the items of largest weight over all ranks: top_ranks_choose or top_rows_choose. */
typedef int choose_largest(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                           int64_t most, bool *chosen);

/* Collective. Puts into `choices` a bool per row: true if the row is chosen. Returns 0, or -1. */
int table_choose(const struct process_table *type, choose_largest *choose,
                 const struct iolens_transport *transport, int64_t most, const struct buffer *rows,
                 struct buffer *choices);

/* Rows with the same values in all columns of COLUMN_KEY become one; the order of the others stays. */
void table_fold(const struct process_table *type, struct buffer *rows);

/* Collective. Of each table with a `rest`, `rows` being those of all tables: when all ranks together have
 * more than `most`, those with the largest `weight` stay (counted between powers of two; of equal ones those
 * of the lower rank), and the others are merged with the help of `rest`, into one row for each of its
 * `rest_slots`, on rank 0. `at_most`: as tables_collect said; where that may be too many for any table, one
 * call tells how many rows all ranks have of all tables. */
void tables_bound(const struct iolens_transport *transport, int64_t most, const int64_t at_most[TABLE_COUNT],
                  struct buffer rows[TABLE_COUNT]);

#endif
