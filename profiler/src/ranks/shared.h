/* Finds the files that all ranks used. */
#ifndef IOLENS_SHARED_H
#define IOLENS_SHARED_H

#include <stdbool.h>

#include "../adapter.h"
#include "../files/registry.h"
#include "../memory/buffer.h"

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
