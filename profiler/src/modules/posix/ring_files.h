/* The table of files that a program registers with a ring. The functions take the ring's lock. */
#ifndef IOLENS_RING_FILES_H
#define IOLENS_RING_FILES_H

#include "ring.h"

/* Returns the file in a slot; it is NULL if unknown. A transfer of `bytes` moves the position, and the
 * returned offset is the position before. */
struct ring_file ring_files_find(struct ring *ring, uint32_t slot, int64_t bytes);

/* Sets the file that was opened into a slot; NULL empties the slot. */
void ring_files_put(struct ring *ring, uint32_t slot, struct ring_file file);

/* Sets the files of slots by descriptors; -1 empties a slot, -2 leaves it as it is. */
void ring_files_set(struct ring *ring, uint32_t first, const int *fds, uint32_t count);

/* Replaces the table by one of `count` empty slots; 0 removes it. */
void ring_files_resize(struct ring *ring, uint32_t count);

#endif
