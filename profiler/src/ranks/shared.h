/* Finds the files that all ranks used. */
#ifndef IOLENS_SHARED_H
#define IOLENS_SHARED_H

#include <stdbool.h>

#include "../adapter.h"
#include "../files/registry.h"

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

#endif
