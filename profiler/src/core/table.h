/* Writing a table of a private region: one line of JSON that names the columns, then the columns. */
#ifndef IOLENS_TABLE_H
#define IOLENS_TABLE_H

#include <stddef.h>

#include "buffer.h"

struct column {
    const char *name, *dtype, *unit, *meaning;
    size_t offset, bytes; /* where it is in a row, in memory */
};

/* A column that is the member `name` of the file's own `struct row`. */
#define COLUMN(name, dtype, unit, meaning)                                                                   \
    {                                                                                                        \
#name, dtype, unit, meaning, offsetof(struct row, name), sizeof(((struct row *)0)->name)             \
    }

/* This rank's chunk: `row_count` rows of `row_bytes` each. Rank 0 names the columns for all, and therefore
 * writes a chunk without rows too when there are other ranks; else no rows are no chunk. */
void table_write(struct buffer *out, const struct column *columns, size_t count, const void *rows,
                 size_t row_bytes, size_t row_count);

#endif
