/* The files, ranks and accesses that are traced, and the memory that traces may take. */
#ifndef IOLENS_DXT_FILTER_H
#define IOLENS_DXT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;

/* Reads iolens.settings once; a value of no use is said and left out. */
void dxt_start(void);

/* No traces yet. */
void dxt_reset(void);

/* Bytes for a trace; false when there are none left. */
bool dxt_take(size_t bytes);

/* By name and rank, when the file is first used. Before MPI_Init every rank will do. */
bool dxt_wants_file(const struct file *file);

/* By rank and by what the POSIX module counted for the file, at the end. */
bool dxt_keeps_file(const struct file *file, int64_t rank);

#endif
