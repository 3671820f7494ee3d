/* From bytes to zlib streams: by zlib where there is one of one piece, else as they are, in blocks that are
 * only stored.
 */
#ifndef IOLENS_COMPRESS_H
#define IOLENS_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "../memory/buffer.h"

/* Look for zlib. Not linked: a library that a preloaded one lacks would keep the program from starting. */
void compress_load(void);

/* Before the first stream. */
void compress_start(void);

/* One complete zlib stream of `part`, appended to `out`. False when memory is short. */
bool compress_append(const struct buffer *part, struct buffer *out);

#endif
