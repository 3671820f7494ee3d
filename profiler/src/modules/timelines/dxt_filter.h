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

/* Returns true if a file is to be traced, by its name and this rank. Called at the first use of the file;
 * before MPI_Init every rank matches. */
bool dxt_wants_file(const struct file *file);

/* Returns true if a file's trace is kept when recording ends, by this rank and the file's POSIX counters. */
bool dxt_keeps_file(const struct file *file, int64_t rank);

#endif
