/* From every rank's states to the regions of the modules: own records, and the merged ones of shared files.
 */
#ifndef IOLENS_REDUCE_H
#define IOLENS_REDUCE_H

#include "../adapter.h"
#include "buffer.h"
#include "registry.h"
#include "timeline.h"

/* Once, when recording has stopped: turn all running states into records with times by the job's clock. */
void reduce_finish_states(int64_t rank, const struct timeline *line);

/* Collective. This rank's part of the module's region: its own records and, on rank 0, the merged shared
 * ones. */
int reduce_records(const struct iolens_transport *transport, enum module_index module, struct buffer *part);

/* This rank's part of the name region: id and path of its files, shared ones on rank 0 only. */
void reduce_names(int rank, struct buffer *part);

#endif
