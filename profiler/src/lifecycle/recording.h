/* Functions for all records of the process together. */
#ifndef IOLENS_RECORDING_H
#define IOLENS_RECORDING_H

#include <stdint.h>

#include "../memory/area.h"
#include "../spool/spool.h"

/* Tells all modules and process tables that the settings have been read. */
void recording_start(void);

/* Forgets all records. Called in a child of fork (which keeps its parent's descriptors and streams), on a
 * rank that is not recorded, and before a rank's records are read from a spool. */
void recording_reset(void);

/* Returns a checksum of the memory layout of all records. Two builds have the same number only if each can
 * read the other's spools. */
uint64_t recording_layout(void);

/* Returns true if the program of a spool did something that is worth a log: it moved data in files, was a
 * rank of an MPI job, visited regions, or was sampled more than a few times. The spool must be complete, and
 * mapped at its original address. Files that were only opened do not count (a shell opens one for `command
 * >file`), nor does the script that the program was reading. */
bool replaced_is_worth_a_log(const struct spool_header *header, const struct area *area);

#endif
