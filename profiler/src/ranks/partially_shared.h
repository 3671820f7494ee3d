/* Finds the files that several ranks used, but not all of them. */
#ifndef IOLENS_PARTIALLY_SHARED_H
#define IOLENS_PARTIALLY_SHARED_H

#include "../adapter.h"
#include "../memory/buffer.h"
#include "../files/registry.h"

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
