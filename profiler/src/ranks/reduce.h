/* Converts every rank's states into the regions of the modules: own records, and the merged records of
 * shared files. */
#ifndef IOLENS_REDUCE_H
#define IOLENS_REDUCE_H

#include "../adapter.h"
#include "../compression/pack.h"
#include "../files/registry.h"
#include "../memory/buffer.h"

/* Calls the modules' hooks that move pending values into the states of files and convert times to the job's
 * clock. Called once, when recording has stopped and iolens.timeline is known. The times in records of fixed
 * size are converted elsewhere, in a copy, because writing to the records would make the kernel copy their
 * pages. */
void reduce_flush_states(void);

/* Returns true if a module has data on this rank that reduce_agree must exchange. */
bool reduce_speaks(void);

/* Collective. Agrees on the shared files, before names and records are written. */
void reduce_agree(const struct iolens_transport *transport);

/* Writes this rank's record of a file into `record`, in the form of the log, before it is merged with records
 * of other ranks. Only for modules with a struct record_shape; `record` must have room for shape_bytes(). */
void reduce_record(const struct file *file, enum module_index module, int64_t rank, void *record);

/* Collective. Appends this rank's part of the module's region: its own records and, on rank 0, the merged
 * shared ones. */
int reduce_records(const struct iolens_transport *transport, enum module_index module,
                   struct records *records);

/* Appends this rank's part of the name region: the ids and paths of its files. Rank 0 includes the shared
 * files. */
void reduce_names(int rank, struct buffer *part);

/* Type of a function that merges the bytes of `higher` ranks into those of `lower` ranks. It returns 0, or
 * -1. */
typedef int merge_add_fn(struct buffer *lower, const struct buffer *higher, const void *context);

/* Collective. Needs ranks that can send messages, and must follow a step that all ranks took (in_step.h).
 * Merges the bytes of all ranks and gives the result to all. A rank whose `bytes` have failed contributes
 * nothing. Returns 0, or -1; ranks that are not on the way to rank 0 do not learn of the failure. */
int merge_by_messages(const struct iolens_transport *transport, struct buffer *bytes, merge_add_fn *add,
                      const void *context);

#endif
