/* Tables of the log's private regions: what Darshan's records have no slot for. Each is one row in tables.def
 * and one file, which holds `const struct process_table table_NAME`; all that else needs to be done for it
 * follows from that: its place in the spool and the checks of what lies there, a fresh start in a child of
 * fork, its region in the log with the columns' names, and the documentation in TABLES.md. */
#ifndef IOLENS_PROCESS_TABLE_H
#define IOLENS_PROCESS_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../adapter.h"
#include "../memory/buffer.h"
#include "table.h"

enum process_table_index {
#define TABLE(name) TABLE_##name,
#include "../tables.def"
#undef TABLE
    TABLE_COUNT
};

struct area;
struct file;
struct keyed_shape;
struct spool_header;

struct process_table {
    const char *name;    /* of the private region */
    const char *meaning; /* what a row is */
    const struct column *columns;
    size_t column_count, row_bytes;
    /* What the process keeps while it runs, and what it keeps per file: zeroed, in the spool; 0: nothing. */
    size_t state_bytes, file_bytes;
    /* Of a process's state from a spool: what it points to lies there; NULL: it has no pointers. */
    bool (*validate)(const void *state, const struct area *area);
    /* Of a state that is a `struct keyed`: its rows' shape, and what rows from a spool must hold to be kept
     * (may be NULL). In place of `validate`. */
    const struct keyed_shape *keyed;
    bool (*sound)(const void *key, const void *value);
    /* The latest time in a valid state from a spool, in seconds: the process was still there then. NULL: it
     * keeps no times. */
    double (*latest)(const void *state);
    void (*start)(void); /* the settings are known, from the environment or a spool; may be NULL */
    void (*begin)(void); /* the job has begun and ranks are known; may be NULL */
    void (*reset)(void); /* forget what is kept elsewhere: the process is a child of fork; may be NULL */
    /* A sign of life, at most ten a second: bring the state up to date, in case that this process is killed;
     * may be NULL. */
    void (*beat)(void *state);
    /* What it holds is worth a log, even of a process without I/O; NULL: it never is. */
    bool (*matters)(void);
    /* `collect` is left out when no rank has a state of the table `state_of`. */
    bool on_demand;
    enum process_table_index state_of;
    /* What has to be known of all ranks together, in one exchange of all tables before the first `collect`:
     * `count` sets this rank's numbers, and afterwards `sums` holds the sums over all ranks. May be NULL. */
    void (*count)(int rank);
    int64_t *sums;
    size_t sum_count;
    /* Collective. Append this rank's rows; rows->failed without memory. */
    void (*collect)(const struct iolens_transport *transport, struct buffer *rows);
    /* Collective, after all other tables: the text of a region of kind json, which has no columns. */
    void (*write)(const struct iolens_transport *transport, struct buffer *out);
    /* What `collect` had to leave out, on all ranks together: a sentence; NULL: nothing. May be NULL. */
    const char *(*left_out)(void);
    /* What the program did that makes its rows less than they seem: a sentence; NULL: nothing. May be NULL.
     */
    const char *(*remark)(void);
    int64_t (*weight)(
        const void *row); /* of tables that keep the largest: see table_largest.h and table_merge.h */
    /* Of tables whose rows are bounded over all ranks (table_merge.h): make a row stand for any rank, and say
     * which of the `rest_slots` rows it becomes part of. All rows of a slot then have the same key. */
    size_t (*rest)(void *row);
    size_t rest_slots;
    /* No more rows will this rank's `collect` append; NULL: one for each row of the `keyed` state. */
    int64_t (*most_rows)(void);
};

/* The columns of a table whose rows are the file's `struct row`. */
#define TABLE_ROWS(list)                                                                                     \
    .columns = list, .column_count = sizeof list / sizeof *list, .row_bytes = sizeof(struct row)

extern const struct process_table *const process_tables[TABLE_COUNT];

/* The state of the process, made at its first use; NULL when memory is short. */
void *table_state(enum process_table_index table);

/* The same; NULL when it was not used. */
void *table_state_known(enum process_table_index table);

/* What the process keeps of a file, made at its first use; NULL when memory is short. */
void *table_file_state(enum process_table_index table, struct file *file);
void *table_file_state_known(enum process_table_index table, const struct file *file);

/* For all tables: the hooks above. */
void tables_start(void);
void tables_begin(void);
void tables_beat(void);
void tables_reset(void);

/* Whether one of them is worth a log by itself. */
bool tables_matter(void);

/* Take what is whole of the states in a spool, of the process and of one of its files. Of the process: the
 * latest time that they know, in seconds; 0: none. */
double tables_load(const struct spool_header *header, const struct area *area);
void tables_load_file(struct file *file, const struct area *area);

/* How many rows a table of ranks may have (IOLENS_FILE_RANKS); a value of no use is said when `speaks`. */
int64_t tables_most_rows(bool speaks);

/* Collective. This rank's rows of all tables, in their order. `most`: of each table with a `rest`, no more
 * rows will there be on all ranks together. */
void tables_collect(const struct iolens_transport *transport, struct buffer rows[TABLE_COUNT],
                    int64_t most[TABLE_COUNT]);

/* Collective. This rank's part of the table's region: its rows, or its text. */
void table_put(enum process_table_index table, const struct iolens_transport *transport,
               const struct buffer *rows, struct buffer *out);

#endif
