/* Which files several ranks used, but not all of them. */
#ifndef IOLENS_PARTIALLY_SHARED_H
#define IOLENS_PARTIALLY_SHARED_H

#include "../adapter.h"
#include "../memory/buffer.h"
#include "../files/registry.h"

/* How many files of this rank in the module not all ranks share. */
int64_t partially_shared_candidates(enum module_index module);

/* Collective, at most PARTIALLY_SHARED_ROUNDS calls of up to 8 MiB. Appends this rank's such files in the
 * module to `files` (struct file *), when they are no more than `most` in all; sets *left_out otherwise.
 * `total`: the candidates of all ranks. Among the files may be, seldom, one that no other rank used. Returns
 * 0, or -1. */
int partially_shared_find(const struct iolens_transport *transport, enum module_index module, int64_t total,
                          int64_t most, struct buffer *files, bool *left_out);

enum { PARTIALLY_SHARED_ROUNDS = 8 };

#endif
