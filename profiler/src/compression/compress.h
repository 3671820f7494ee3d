/* Compression of bytes into zlib streams: by zlib if a consistent one is loaded, else in stored blocks
 * without compression. */
#ifndef IOLENS_COMPRESS_H
#define IOLENS_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "../memory/buffer.h"

/* Loads zlib. The profiler is not linked with it, because a missing library would keep the program from
 * starting. */
void compress_load(void);

/* Prepares for the first stream. */
void compress_start(void);

/* Appends one complete zlib stream of `part` to `out`. Returns false if memory is short. */
bool compress_append(const struct buffer *part, struct buffer *out);

#endif
