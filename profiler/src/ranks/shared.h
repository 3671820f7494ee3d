/* Which files all ranks used. */
#ifndef IOLENS_SHARED_H
#define IOLENS_SHARED_H

#include <stdbool.h>

#include "../adapter.h"
#include "../files/registry.h"

/* Collective, in three calls of which two grow with the files of rank 0 (12 bytes each). Afterwards the
 * functions below know. Returns 0, or -1. */
int shared_find(const struct iolens_transport *transport);

/* Every rank has a state of the module for this file. */
static inline bool shared_by_all(const struct file *file, enum module_index module)
{
    return file->shared >> module & 1;
}

/* Files that all ranks share in the module, in the same order on all ranks; NULL behind the last one. */
struct file *shared_first(enum module_index module);
struct file *shared_next(const struct file *file, enum module_index module);

#endif
