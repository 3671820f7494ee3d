/* Merges rows of a process table by the rules of its columns. */
#ifndef IOLENS_TABLE_MERGE_H
#define IOLENS_TABLE_MERGE_H

#include "process_table.h"

/* Merges the row `from` into the row `to`. Columns without a rule for merging keep their value in `to`. */
void table_merge_row(const struct process_table *type, const void *from, void *to);

/* A row that is merged over the ranks. */
struct staged_row {
    int64_t table, rows; /* Index of the table, and number of rows: 0 if there is no row. */
    char row[];
};

/* Merges one staged row into another of the same table, for reductions. */
void table_combine(const void *in, void *inout);

/* Type of the two functions that choose the items of largest weight over all ranks: top_ranks_choose and
 * top_rows_choose. */
typedef int choose_largest(const struct iolens_transport *transport, const int64_t *weight, size_t count,
                           int64_t most, bool *chosen);

/* Collective. Puts into `choices` a bool per row: true if the row is chosen. Returns 0, or -1. */
int table_choose(const struct process_table *type, choose_largest *choose,
                 const struct iolens_transport *transport, int64_t most, const struct buffer *rows,
                 struct buffer *choices);

/* Merges rows that have the same values in all columns of COLUMN_KEY into one row; the order of the rows
 * stays. */
void table_fold(const struct process_table *type, struct buffer *rows);

/* Collective. Limits the rows of each table with a `rest`; `rows` has those of all tables. If all ranks
 * together have more than `most` rows of a table, the rows with the largest `weight` stay (weights are
 * compared by powers of two; among equals those of the lower rank stay). Each other row is merged into one of
 * `rest_slots` rows on rank 0, which `rest` chooses. `at_most` has upper bounds, as for tables_collect; if a
 * bound exceeds `most`, one exchange finds the number of rows of all tables on all ranks. */
void tables_bound(const struct iolens_transport *transport, int64_t most, const int64_t at_most[TABLE_COUNT],
                  struct buffer rows[TABLE_COUNT]);

/* Tables in which every rank has a row about the same subjects, such as each file that all ranks share, or
 * the process itself. A limit keeps their size from growing with the number of ranks. */

/* Collective. `rows` has one row per subject; all ranks have the same subjects in the same order. For each
 * subject the `most` ranks with the largest `weight` keep their rows; weights are compared by powers of two,
 * and among equals the lower rank is chosen. For each subject, the rows of the other ranks are merged into
 * one row on rank 0, by the rules of the columns. If `most` is 0, that row is the sum over all ranks. Returns
 * 0, or -1. */
int table_keep_largest(enum process_table_index table, const struct iolens_transport *transport, int64_t most,
                       struct buffer *rows);

#endif
