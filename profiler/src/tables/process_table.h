/* Tables of the log's private regions, for which Darshan's records have no slot. Each table is one row in
 * tables.def and one file, which defines `const struct process_table table_NAME`. Everything else follows
 * from that: its place in the spool and the checks of its contents there, a fresh start in a child of fork,
 * its region in the log with the columns' names, and its documentation in TABLES.md. */
#ifndef IOLENS_PROCESS_TABLE_H
#define IOLENS_PROCESS_TABLE_H

#include <stdatomic.h>

#include "../adapter.h"
#include "../memory/buffer.h"

/* The columns of a table of a private region, and the form of its rows: one line of JSON that names the
 * columns, then the columns. */

/* Rules for the value of a column in a row that stands for several ranks. */
enum column_merge {
    COLUMN_NONE, /* The column has no value (0) in a row that stands for several ranks. */
    COLUMN_KEY,  /* All ranks of the row have the same value. */
    COLUMN_RANK, /* Rank number; -1 in a row that stands for several ranks. */
    COLUMN_SUM,
    COLUMN_LARGEST,
    COLUMN_SMALLEST,
    COLUMN_EARLIEST /* The earliest time; times of 0 do not count. */
};

/* Kind of the texts in a column; without meaning for numbers. */
enum column_text {
    TEXT_NONE,
    TEXT_NAME, /* A name of somebody's file, machine or setting, which anonymization replaces. */
    TEXT_WORD  /* A word that names no person, file or machine; anonymization keeps it. */
};

struct column {
    const char *name, *dtype, *unit, *meaning;
    size_t offset, bytes; /* Place and size in a row in memory. */
    enum column_merge merge;
    enum column_text text;
};

/* Declares a column that is the member `name` of the file's own `struct row`; MERGED also gives its rule
 * for merging. */
#define COLUMN(name, dtype, unit, meaning) MERGED(name, dtype, unit, meaning, COLUMN_NONE)
#define MERGED(name, dtype, unit, meaning, merge)                                                            \
    {                                                                                                        \
#name, dtype, unit, meaning, offsetof(struct row, name), sizeof(((struct row *)0)->name), merge,     \
            TEXT_NONE                                                                                        \
    }
#define TEXT(name, dtype, meaning, text)                                                                     \
    {                                                                                                        \
#name, dtype, "", meaning, offsetof(struct row, name), sizeof(((struct row *)0)->name), COLUMN_NONE, \
            text                                                                                             \
    }

/* Declares a column that is an element of an array in the file's `struct row`. */
#define ELEMENT(array, index, name, dtype, unit, meaning)                                                    \
    {                                                                                                        \
#name, dtype, unit, meaning, offsetof(struct row, array[index]),                                     \
            sizeof(((struct row *)0)->array[0]), COLUMN_NONE, TEXT_NONE                                      \
    }

/* Returns the name that a table's header has for a value; NULL for the first value of each enumeration. */
const char *column_merge_name(enum column_merge merge);
const char *column_text_name(enum column_text text);

/* Number of this rank, and number of the ranks that write the table together. */
struct table_writers {
    int rank, size;
};

/* Writes this rank's chunk of a table: `row_count` rows of `row_bytes` each. Rank 0 writes the header with
 * the columns for all ranks, so it writes a chunk even without rows if there are other ranks. In all other
 * cases a rank without rows writes nothing. */
void table_write(struct buffer *out, struct table_writers writers, const struct column *columns, size_t count,
                 const void *rows, size_t row_bytes, size_t row_count);

enum process_table_index {
#define TABLE(name) TABLE_##name,
#include "../tables.def"
#undef TABLE
    TABLE_COUNT
};

enum { WEIGHING_COLUMNS = 2 };

struct area;
struct file;
struct keyed_shape;
struct spool_header;

/* How a process keeps the contents of a table until the log is written. */
struct table_recording {
    /* Sizes of the states per process and per file, zeroed and in the spool; 0 if there is none. */
    size_t state_bytes, file_bytes;
    /* Checks that a process's state from a spool points into the spool only; NULL if it has no pointers. */
    bool (*validate)(const void *state, const struct area *area);
    /* The shape of the rows if the state is a `struct keyed`, and the condition under which rows from a
     * spool are kept (may be NULL). Replaces `validate`. */
    const struct keyed_shape *keyed;
    bool (*sound)(const void *key, const void *value);
    /* Returns the latest time in a valid state from a spool, in seconds; the process still ran at that time.
     * NULL if the state has no times. */
    double (*latest)(const void *state);
    void (*start)(
        void); /* Called when the settings are known, from the environment or a spool; may be NULL. */
    void (*begin)(void);             /* Called when the job has begun and ranks are known; may be NULL. */
    void (*initialize)(bool begins); /* Called when MPI_Init begins and when it has ended; may be NULL. */
    /* Records activity that is unfinished in the calling thread, just before recording ends; may be NULL. */
    void (*end)(void);
    /* In a child of fork, forgets state that the module keeps outside the table; may be NULL. */
    void (*reset)(void);
    /* Updates the state during the run, at most ten times per second, in case the process is killed; may be
     * NULL. */
    void (*beat)(void *state);
    /* Conditions under which the contents are worth a log even for a process without I/O: `matters_if_used`,
     * whenever there is a state; `matters` (may be NULL), whenever it returns true. */
    bool matters_if_used;
    bool (*matters)(void);
};

/* How the ranks' contents of a table become a region of one log. */
struct table_merging {
    /* If `on_demand` is true, `collect` is skipped when no rank has a state of this table or, if the table
     * keeps none, of the table `state_of`. */
    bool on_demand;
    enum process_table_index state_of;
    /* Sets this rank's numbers, which are added over all ranks in one exchange for all tables before the
     * first `collect`; afterwards `sums` holds the sums. May be NULL. */
    void (*count)(int rank);
    int64_t *sums;
    size_t sum_count;
    /* Collective. Appends this rank's rows; sets rows->failed without memory. */
    void (*collect)(const struct iolens_transport *transport, struct buffer *rows);
    /* Collective; called after all other tables. Writes the text of a region of kind json, which has no
       columns. */
    void (*write)(const struct iolens_transport *transport, struct buffer *out);
    /* For tables that keep the rows of largest weight (table_merge.h): names of the columns
     * whose sum is the weight of a row (times in nanoseconds); unused places are NULL. `weight` computes the
     * weight if no columns give it. */
    const char *weighed_by[WEIGHING_COLUMNS];
    int64_t (*weight)(const void *row);
    /* For tables whose number of rows is bounded over all ranks (table_merge.h): makes a row stand for any
     * rank, and returns which of the `rest_slots` rows it is merged into. All rows of a slot then have the
     * same key. */
    size_t (*rest)(void *row);
    size_t rest_slots;
    /* Returns an upper bound of the rows that this rank's `collect` appends; NULL if it is the number of
     * rows of the `keyed` state. */
    int64_t (*most_rows)(void);
};

/* Sentences for the log about a table that is incomplete. */
struct table_remarks {
    /* The sentence if the state of any rank counts something that was left out, and the place of this count,
     * an int64_t, in the state. */
    const char *left_out_text;
    size_t left_out_at;
    /* Functions that return a sentence, or NULL if there is nothing to say. Either pointer may be NULL. */
    const char *(*left_out)(void); /* Names the rows that `collect` left out on all ranks together. */
    const char *(*remark)(void);   /* Says what else is missing and why, or what the program did wrong. */
};

struct process_table {
    const char *name;    /* Name of the table's private region in the log. */
    const char *meaning; /* Meaning of a row, for TABLES.md. */
    const struct column *columns;
    size_t column_count, row_bytes;
    struct table_recording recording;
    struct table_merging merging;
    struct table_remarks remarks;
};

/* Declares the columns of a table whose rows are the file's `struct row`. */
#define TABLE_ROWS(list)                                                                                     \
    .columns = list, .column_count = sizeof list / sizeof *list, .row_bytes = sizeof(struct row)

extern const struct process_table *const process_tables[TABLE_COUNT];

/* Returns the state of the process, made at its first use; NULL if memory is short. */
void *table_state(enum process_table_index table);

/* Returns the state of the process; NULL if it was not used. */
void *table_state_known(enum process_table_index table);

/* Returns the state of a file, made at its first use; NULL if memory is short. */
void *table_file_state(enum process_table_index table, struct file *file);
void *table_file_state_known(enum process_table_index table, const struct file *file);

/* Functions that call the hook of their name for all tables. */
void tables_start(void);
void tables_begin(void);
void tables_initialize(bool begins);
void tables_beat(void);
void tables_end(void);
void tables_reset(void);

/* Returns true if one of the tables is worth a log by itself. */
bool tables_matter(void);

/* Take the valid states of a spool: tables_load those of the process, tables_load_file those of one file.
 * tables_load returns the latest time in them, in seconds; 0 if there is none. */
double tables_load(const struct spool_header *header, const struct area *area);
void tables_load_file(struct file *file, const struct area *area);

/* Returns how many rows a table with rows of several ranks may have (IOLENS_FILE_RANKS). An invalid value
 * causes a message if `speaks` is true. */
int64_t tables_most_rows(bool speaks);

/* Collective. Collects this rank's rows of all tables, in their order. For each table with a `rest`, `most`
 * receives an upper bound of the rows on all ranks together. */
void tables_collect(const struct iolens_transport *transport, struct buffer rows[TABLE_COUNT],
                    int64_t most[TABLE_COUNT]);

/* Returns a sentence about what the table lacks; NULL if the table is complete. Must be called after
 * tables_collect. */
const char *table_left_out(enum process_table_index table);

/* Collective. Appends this rank's part of the table's region: its rows, or its text. */
void table_put(enum process_table_index table, const struct iolens_transport *transport,
               const struct buffer *rows, struct buffer *out);

#endif
