/* Writes zlib streams (RFC 1950, RFC 1951) in deflate's fixed codes, without zlib: loading that library took
 * as long as a short program, and programs may have another one of the same name.
 *
 * Rows of one size are often alike: bytes equal to those of the previous row become a match at one fixed
 * distance, and all others become literals. That takes a tenth of the time of zlib at its fastest level, and
 * the result is a tenth larger. In bytes that are not rows, a match is searched only at the latest place
 * where the same four bytes stood. */
#ifndef IOLENS_PACK_H
#define IOLENS_PACK_H

#include <stdint.h>

#include "../memory/buffer.h"

enum { PACK_LONGEST_ROW = 4096 };

struct pack_code {
    uint32_t bits; /* The code and its extra bits; the lowest bit is written first. */
    int count;
};

struct packer {
    struct buffer *out;
    unsigned char *next; /* Next free byte of the output, during a call. */
    uint64_t bits;       /* Bits that do not yet fill a word; the lowest bit is written first. */
    int bit_count;
    uint32_t checksum;
    size_t row_bytes, packed;
    struct pack_code distance;
    /* The latest row_bytes bytes, as a ring; the next row is compared with them. */
    uint64_t history[PACK_LONGEST_ROW / sizeof(uint64_t)];
};

/* Returns true if rows of this size can be packed: multiples of 8 bytes, on a little-endian machine. */
bool pack_takes(size_t row_bytes);

/* Begins a stream at the end of `out`, which must not be touched until pack_close. */
void pack_open(struct packer *packer, struct buffer *out, size_t row_bytes);

/* Adds `count` bytes, a multiple of 8, not necessarily whole rows. */
void pack(struct packer *packer, const void *bytes, size_t count);

/* Ends the stream. Returns false if memory was short. */
bool pack_close(struct packer *packer);

/* Appends one complete zlib stream of any bytes to `out`. Returns false if memory was short. */
bool pack_bytes(const struct buffer *bytes, struct buffer *out);

/* One rank's records of one module on their way to the log. If they are few, they are kept as they are and
 * packed at the end; if they are many, each is packed at once (pack.h). */

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
