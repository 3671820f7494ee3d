/* The data: words that tell who wrote them and, every 4096 bytes, where they belong. */
#ifndef IOR_PATTERN_H
#define IOR_PATTERN_H

#include "settings.h"

/* Bytes between two stamps. */
enum { STAMP_EVERY = 4096 };

/* Fills a buffer with what task `writer` writes, without stamps. */
void pattern_fill(const Settings *settings, int writer, char *buffer, int64_t bytes);

/* Puts the place of a transfer into a filled buffer; nothing for the packet type timestamp. */
void pattern_stamp(const Settings *settings, int writer, char *buffer, int64_t bytes, int64_t offset);

/* Number of 64-bit words of `found` that are not what `writer` wrote at `offset`; `expected` is a filled
 * buffer of its own. `first` is the offset of the first wrong word. */
int64_t pattern_errors(const Settings *settings, int writer, char *expected, const char *found, int64_t bytes,
                       int64_t offset, int64_t *first);

#endif
