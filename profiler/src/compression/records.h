/* One rank's records of one module on their way to the log: kept as they are while they are few and
 * compressed by zlib, packed one by one (pack.h) when they are many. */
#ifndef IOLENS_RECORDS_H
#define IOLENS_RECORDS_H

#include "pack.h"

struct records {
    size_t row_bytes; /* of the rows that records consist of; 0: no rows */
    bool packing;
    struct buffer bytes; /* records, or the stream of the packed ones */
    struct packer packer;
};

/* `expected`: about how many bytes will come, 0 when unknown. */
void records_open(struct records *records, size_t row_bytes, size_t expected);

void records_put(struct records *records, const void *bytes, size_t count);

/* The records as a complete zlib stream, nothing when there are none. False when memory was short. */
bool records_close(struct records *records, struct buffer *out);

#endif
