/* Counts files that a program maps into its memory: the bytes that storage delivered for them, which pass
 * through no call, and the calls that prepare or flush a mapping. */
#ifndef IOLENS_MAPPED_FILES_H
#define IOLENS_MAPPED_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "../../runtime/wrap.h"

/* A call of mmap that maps a file. */
struct map_call {
    void *address;
    size_t bytes;
    int protection, flags, fd;
    int64_t offset;
};

/* Asks the kernel how much of the file is in the page cache, before mmap may read the file in (MAP_POPULATE).
 * Keeps the answer in `c`. */
void mapped_before_mmap(struct call *c, const struct map_call *map);

/* Begins to follow the mapping that mmap put at map->address. */
void mapped_on_mmap(const struct call *c, const struct map_call *map);

/* Counts the bytes of mappings that overlap the range, which the program is about to unmap. These mappings
 * are no longer followed, even if only a part is unmapped. */
void mapped_before_munmap(const void *address, size_t bytes);

/* Counts mappings whose pages mremap is about to unmap: those at `target`, NULL for none, and those in a part
 * that is cut off. */
void mapped_before_mremap(const void *old, size_t old_bytes, const void *target, size_t bytes);

/* Follows a mapping to its new place and size, unless only a part of it moved. An old size of 0 means that
 * mremap made a second mapping and kept the first one. */
void mapped_on_mremap(const void *old, size_t old_bytes, const void *address, size_t bytes);

void mapped_on_msync(const struct call *c, const void *address);
void mapped_on_madvise(const struct call *c, const void *address, int advice);

#endif
