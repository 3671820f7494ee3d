/* The columns of a table of a private region, and the form of its rows: one line of JSON that names the
 * columns, then the columns. */
#ifndef IOLENS_TABLE_H
#define IOLENS_TABLE_H

#include <stddef.h>

#include "../memory/buffer.h"

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

#endif
