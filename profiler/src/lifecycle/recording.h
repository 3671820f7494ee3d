/* Functions for all records of the process together. */
#ifndef IOLENS_RECORDING_H
#define IOLENS_RECORDING_H

#include <stdint.h>

/* Tells all modules and process tables that the settings have been read. */
void recording_start(void);

/* Forgets all records. Called in a child of fork (which keeps its parent's descriptors and streams), on a
 * rank that is not recorded, and before a rank's records are read from a spool. */
void recording_reset(void);

/* Returns a checksum of the memory layout of all records. Two builds have the same number only if each can
 * read the other's spools. */
uint64_t recording_layout(void);

#endif
