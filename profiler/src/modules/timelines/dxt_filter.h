/* The files, ranks and accesses that are traced, and the memory that traces may take. */
#ifndef IOLENS_DXT_FILTER_H
#define IOLENS_DXT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;

/* Reads iolens.settings once; an invalid value is reported and ignored. */
void dxt_start(void);

/* Forgets all traces. */
void dxt_reset(void);

/* Takes `bytes` from the memory for traces; returns false if too few are left. */
bool dxt_take(size_t bytes);

/* Decides by name and rank, at the first use of a file, whether it is traced. Before MPI_Init any rank
 * matches. */
bool dxt_wants_file(const struct file *file);

/* Decides at the end, by rank and by the POSIX counters of the file, whether its trace is kept. */
bool dxt_keeps_file(const struct file *file, int64_t rank);

#endif
