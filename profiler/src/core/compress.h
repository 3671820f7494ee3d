/* From bytes to zlib streams. */
#ifndef IOLENS_COMPRESS_H
#define IOLENS_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

/* zlib's memory, without malloc: the same for one stream after the other. */
struct compressor {
    char *memory; /* NULL: there was none */
    size_t used;
};

/* Before the first stream. */
void compress_start(void);

/* One complete zlib stream of `part`, appended to `out`. False when memory is short. */
bool compress_append(const struct buffer *part, struct buffer *out);

#endif
