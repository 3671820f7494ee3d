/* From bytes to zlib streams. */
#ifndef IOLENS_COMPRESS_H
#define IOLENS_COMPRESS_H

#include <stdbool.h>

#include "buffer.h"

/* One complete zlib stream of `part`, appended to `out`. False when memory is short. */
bool compress_append(const struct buffer *part, struct buffer *out);

#endif
