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

/* Collective. Needs ranks that can send messages, and must follow a step that all ranks took (serial.h).
 * Merges the bytes of all ranks and gives the result to all. A rank whose `bytes` have failed contributes
 * nothing. Returns 0, or -1; ranks that are not on the way to rank 0 do not learn of the failure. */
int merge_by_messages(const struct iolens_transport *transport, struct buffer *bytes, merge_add_fn *add,
                      const void *context);

/* Returns the number of this rank's files that might be shared by all ranks. */
size_t shared_candidates(void);

/* Collective. Sends the `count` candidates of rank 0 to all ranks and finds those that every rank has, by two
 * calls with 12 bytes for each candidate. The functions below are valid afterwards. Returns 0, or -1. */
int shared_find(const struct iolens_transport *transport, size_t count);

/* Returns true if every rank has a state of the module for this file. */
static inline bool shared_by_all(const struct file *file, enum module_index module)
{
    return file->shared >> module & 1;
}

/* Iterates over the files that all ranks share in the module, in the same order on all ranks; NULL after the
 * last file. */
struct file *shared_first(enum module_index module);
struct file *shared_next(const struct file *file, enum module_index module);

/* Returns how many files of this rank in the module are not shared by all ranks. */
int64_t partially_shared_candidates(enum module_index module);

/* Collective, at most PARTIALLY_SHARED_ROUNDS calls of up to 8 MiB. Appends this rank's partially shared
 * files in the module to `files` (struct file *) if there are at most `most` over all ranks; sets *left_out
 * otherwise. `total` is the number of candidates of all ranks. A file that no other rank used may be among
 * them, but rarely. Returns 0, or -1. */
int partially_shared_find(const struct iolens_transport *transport, enum module_index module, int64_t total,
                          int64_t most, struct buffer *files, bool *left_out);

enum { PARTIALLY_SHARED_ROUNDS = 8 };

#endif
