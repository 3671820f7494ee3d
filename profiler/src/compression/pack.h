/* A zlib stream (RFC 1950, RFC 1951) of many rows of one size that resemble each other: what a row has in
 * common with the one before is a match at one fixed distance, everything else is written out, both in
 * deflate's fixed codes. A tenth of the time of zlib at its fastest, which searches for matches, and a tenth
 * larger. */
#ifndef IOLENS_PACK_H
#define IOLENS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../memory/buffer.h"

enum { PACK_LITERALS = 256, PACK_LENGTHS = 259, PACK_LONGEST_ROW = 4096 };

struct pack_code {
    uint32_t bits; /* first bit lowest, extra bits behind the code */
    int count;
};

struct packer {
    struct buffer *out;
    unsigned char *next; /* where in `out` the next bits go, during a call */
    uint64_t bits;       /* not written yet, first bit lowest */
    int bit_count;
    uint32_t checksum;
    size_t row_bytes, packed;
    struct pack_code literal[PACK_LITERALS], length[PACK_LENGTHS], distance;
    uint64_t history[PACK_LONGEST_ROW / sizeof(uint64_t)]; /* the latest row_bytes, as a ring */
};

/* Rows of this size can be packed: words of 8 bytes, on a machine whose lowest byte comes first. */
bool pack_takes(size_t row_bytes);

/* Begin a stream at the end of `out`, which must not be touched until pack_close. */
void pack_open(struct packer *packer, struct buffer *out, size_t row_bytes);

/* `count` more bytes, a multiple of 8, not necessarily whole rows. */
void pack(struct packer *packer, const void *bytes, size_t count);

/* End the stream. False when there was not memory enough. */
bool pack_close(struct packer *packer);

#endif
