/* One rank's records of one module on their way to the log. If they are few, they are kept as they are and
 * packed at the end; if they are many, each is packed at once (pack.h). */
#ifndef IOLENS_RECORDS_H
#define IOLENS_RECORDS_H

#include "pack.h"

struct records {
    size_t row_bytes; /* Size of a row in bytes; 0 if the records are not made of rows. */
    bool packing;
    struct buffer bytes; /* The records themselves, or the stream of packed records. */
    struct packer packer;
};

/* Starts collecting; `expected` is the approximate number of bytes to come, 0 if unknown. */
void records_open(struct records *records, size_t row_bytes, size_t expected);

void records_put(struct records *records, const void *bytes, size_t count);

/* Appends the records as a complete zlib stream, or nothing if there are none. Returns false if memory was
 * short. */
bool records_close(struct records *records, struct buffer *out);

#endif
