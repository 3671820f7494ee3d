/* The contents of the data: words that identify the writer and, every 4096 bytes, their own place. */
#ifndef IOR_PATTERN_H
#define IOR_PATTERN_H

#include "settings.h"

/* Number of bytes between two stamps. */
enum { STAMP_EVERY = 4096 };

/* Fills a buffer with the words of task `writer`, without stamps. */
void pattern_fill(const Settings *settings, int writer, char *buffer, int64_t bytes);

/* Stamps a filled buffer with the place of the transfer; does nothing for the packet type timestamp. */
void pattern_stamp(const Settings *settings, int writer, char *buffer, int64_t bytes, int64_t offset);

/* Returns how many 64-bit words of `found` differ from those of `writer` at `offset`; `expected` is a filled
 * buffer for the comparison. `first` receives the offset of the first wrong word. */
int64_t pattern_errors(const Settings *settings, int writer, char *expected, const char *found, int64_t bytes,
                       int64_t offset, int64_t *first);

#endif
