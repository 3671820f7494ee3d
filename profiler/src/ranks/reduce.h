/* From every rank's states to the regions of the modules: own records, and the merged ones of shared files.
 */
#ifndef IOLENS_REDUCE_H
#define IOLENS_REDUCE_H

#include "../adapter.h"
#include "../memory/buffer.h"
#include "../compression/records.h"
#include "../files/registry.h"

/* Once, when recording has stopped and iolens.timeline is known. States of fixed records stay as they are:
 * their pages would have to be copied. */
void reduce_flush_states(void);

/* Whether this rank wants reduce_agree. */
bool reduce_speaks(void);

/* Collective, before names and records are written. */
void reduce_agree(const struct iolens_transport *transport);

/* A file's record of a module with a shape as it stands in the log, before ranks are merged; `record` has
 * room for shape_bytes(). */
void reduce_record(const struct file *file, enum module_index module, int64_t rank, void *record);

/* Collective. This rank's part of the module's region: its own records and, on rank 0, the merged shared
 * ones. */
int reduce_records(const struct iolens_transport *transport, enum module_index module,
                   struct records *records);

/* This rank's part of the name region: id and path of its files, shared ones on rank 0 only. */
void reduce_names(int rank, struct buffer *part);

#endif
