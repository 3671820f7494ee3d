/* The contents of the files: words that identify the task that wrote them and, every 4096 bytes, a word that
 * depends on its offset. */
#ifndef IOR_PATTERN_H
#define IOR_PATTERN_H

#include "settings.h"

/* Number of bytes between two stamps. */
enum { STAMP_EVERY = 4096 };

/* Fills a buffer with the words of task `writer`, without stamps. */
void pattern_fill(const Settings *settings, int writer, char *buffer, int64_t bytes);

/* Puts words that depend on the file offset into a filled buffer; does nothing for the packet type
 * timestamp. */
void pattern_stamp(const Settings *settings, int writer, char *buffer, int64_t bytes, int64_t offset);

/* Returns how many 64-bit words of `found` differ from those that task `writer` wrote at `offset`; `expected`
 * is a buffer that pattern_fill filled for this task. `first` receives the offset of the first wrong word. */
int64_t pattern_errors(const Settings *settings, int writer, char *expected, const char *found, int64_t bytes,
                       int64_t offset, int64_t *first);

#endif
