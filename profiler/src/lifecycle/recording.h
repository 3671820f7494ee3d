/* Functions that concern all records together, those of files and of the process. */
#ifndef IOLENS_RECORDING_H
#define IOLENS_RECORDING_H

#include <stdint.h>

/* The settings are read: modules and tables take theirs. */
void recording_start(void);

/* Nothing is recorded yet: at the begin of a child of fork, which keeps its parent's descriptors and streams,
 * of a rank that is not recorded, and of a rank whose records are read from a spool. */
void recording_reset(void);

/* A number that two builds share only when they lay out all records in the same way. */
uint64_t recording_layout(void);

#endif
